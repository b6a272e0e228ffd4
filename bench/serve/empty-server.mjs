/** A server that answers everything with the same few bytes: what the machine itself takes. */
import { createServer } from 'node:http';

const server = createServer((_, reply) => reply.end('{}'));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
