import { expect, it } from 'vitest';
import { clientOf } from './client-address.ts';

it.each([
  ['an address of IPv4 is itself', '203.0.113.7', '203.0.113.7'],
  ['also where a socket of IPv6 took it', '::ffff:203.0.113.7', '203.0.113.7'],
  ['of IPv6 its network', '2001:db8:1:2:a:b:c:d', '2001:db8:1:2::/64'],
  ['however it is written', '2001:DB8:1:2::d', '2001:db8:1:2::/64'],
  ['with zeros in the network', '2001:db8::1', '2001:db8:0:0::/64'],
  ['of this machine', '::1', '0:0:0:0::/64'],
  ['of a link, without its name', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['what is no address stays', 'unknown', 'unknown'],
])('%s', (_, address, want) => expect(clientOf(address)).toBe(want));
