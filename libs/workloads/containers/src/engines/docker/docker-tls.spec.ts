import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  hasOpenssl,
  makeCertificates,
  type Certificates,
} from '../../../../../../test/support/certificates.js';
import { EngineUnavailable } from '../container-engine.js';
import { DockerEngine } from './docker-engine.js';

const never = new AbortController().signal;

describe.skipIf(!hasOpenssl())('a docker engine behind TLS', () => {
  let folder: string;
  let files: Certificates;
  let server: Server;
  let host: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-tls-'));
    files = makeCertificates(folder);
    const [ca, cert, key] = [files.ca, files.cert, files.key].map((file) => readFileSync(file));
    const options = { ca: ca!, cert: cert!, key: key!, requestCert: true, rejectUnauthorized: true };
    server = createServer(options, (_, response) => void response.end('[]')).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    host = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => vi.unstubAllEnvs());

  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  const open = (): DockerEngine => {
    vi.stubEnv('DOCKER_HOST', host);
    return new DockerEngine(host, { memoryMb: 64, cpus: 1, pids: 16 });
  };

  it('answers a client with its certificates', async () => {
    for (const [name, file] of [
      ['ca.pem', files.ca],
      ['cert.pem', files.cert],
      ['key.pem', files.key],
    ] as const)
      await copyFile(file, join(folder, name));
    vi.stubEnv('DOCKER_CERT_PATH', folder);
    expect(await open().list('lease', never)).toEqual([]);
  });

  it('is refused when its certificate is not signed by a known authority', async () => {
    await expect(open().list('lease', never)).rejects.toThrow(EngineUnavailable);
  });
});
