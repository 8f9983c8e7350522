import { expect, it } from 'vitest';
import { sign, SHA256_OF_NOTHING } from './sigv4.js';

// The examples of AWS's own documentation, "Signature Calculations for the Authorization Header".
const SIGNER = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const AT = new Date('2013-05-24T00:00:00.000Z');
const host = 'examplebucket.s3.amazonaws.com';

it.each([
  {
    what: 'a part of an object',
    path: '/test.txt',
    query: {},
    headers: { host, range: 'bytes=0-9' },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    what: 'a list',
    path: '/',
    query: { prefix: 'J', 'max-keys': '2' },
    headers: { host },
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
])('$what is signed as by AWS', ({ path, query, headers, signature }) => {
  const request = { method: 'GET', path, query, headers, payloadSha256: SHA256_OF_NOTHING };
  expect(sign(request, SIGNER, AT)['authorization']).toContain(`Signature=${signature}`);
});
