import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

/** One question that arrived, in the words of a policy: `ec2:DescribeInstances`. */
export interface AwsQuestion {
  readonly action: string;
  readonly region: string;
  readonly body: string;
  /** What another server must be sent to be asked the same. */
  readonly raw: { readonly path: string; readonly headers: Record<string, string> };
}

export interface AwsReply {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

/** A server on loopback that answers as it is told; `undefined` never answers. */
export interface AwsLikeServer {
  readonly endpoint: string;
  readonly asked: readonly AwsQuestion[];
  close(): Promise<void>;
}

export async function awsLikeServer(
  answer: (question: AwsQuestion) => AwsReply | undefined | Promise<AwsReply | undefined>,
): Promise<AwsLikeServer> {
  const asked: AwsQuestion[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      const question = await questionOf(request);
      asked.push(question);
      const reply = await answer(question);
      if (reply === undefined) return;
      response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'text/xml' });
      response.end(reply.body);
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The same before another server: every question is noted and passed on. */
export function awsRecorder(upstream: string): Promise<AwsLikeServer> {
  return awsLikeServer(async ({ raw: { path, headers }, body }) => {
    const answer = await fetch(`${upstream}${path}`, { method: 'POST', headers, body });
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? 'text/xml',
      body: await answer.text(),
    };
  });
}

/** EC2 names the action in a form, CloudWatch in a header; the signature names region and service. */
async function questionOf(request: IncomingMessage): Promise<AwsQuestion> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  const signature = /Credential=[^/]+\/\d+\/([\w-]+)\/(\w+)\//.exec(request.headers.authorization ?? '');
  const service = signature?.[2] === 'monitoring' ? 'cloudwatch' : (signature?.[2] ?? 'nobody');
  const target = request.headers['x-amz-target'];
  const name = typeof target === 'string' ? target.split('.').at(-1) : new URLSearchParams(body).get('Action');
  const kept = ['content-type', 'authorization', 'x-amz-date', 'x-amz-target', 'x-amz-security-token'];
  const headers = kept.flatMap((key) => {
    const value = request.headers[key];
    return typeof value === 'string' ? [[key, value] as const] : [];
  });
  return {
    action: `${service}:${name ?? 'nothing'}`,
    region: signature?.[1] ?? 'nowhere',
    body,
    raw: { path: request.url ?? '/', headers: Object.fromEntries(headers) },
  };
}

/** How EC2 refuses. */
export function ec2Refusal(code: string, status = 403): AwsReply {
  const error = `<Error><Code>${code}</Code><Message>You are not authorized to perform this operation.</Message></Error>`;
  return {
    status,
    body: `<?xml version="1.0"?><Response><Errors>${error}</Errors><RequestID>1</RequestID></Response>`,
  };
}

/** How CloudWatch refuses. */
export function cloudWatchRefusal(code: string, status = 400): AwsReply {
  return { status, type: 'application/x-amz-json-1.0', body: JSON.stringify({ __type: code, message: 'no' }) };
}

/** A reply of EC2, as the fields of its XML. */
export function ec2Reply(action: string, fields: string): AwsReply {
  const name = `${action.split(':')[1] ?? ''}Response`;
  return {
    body: `<${name} xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>1</requestId>${fields}</${name}>`,
  };
}
