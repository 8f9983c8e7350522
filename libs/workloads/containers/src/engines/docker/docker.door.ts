import { hash } from 'node:crypto';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { createRequire } from 'node:module';
import type Docker from 'dockerode';

/** More than any answer to our questions; an engine that says more is not believed. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const TLS_PORT = '2376';

type Callback = (error: unknown, answer: unknown) => void;

/** What dockerode's own transport is, as far as we take its place. */
interface Modem {
  buildRequest(
    options: RequestOptions,
    context: { statusCodes: object },
    data: string | undefined,
    callback: Callback,
  ): void;
  buildPayload(
    error: unknown,
    isStream: boolean,
    statusCodes: object,
    openStdin: boolean,
    request: object,
    response: object,
    answer: unknown,
    callback: Callback,
  ): void;
}

/** Dockerode, to where `DOCKER_HOST` says. */
export function openDoor(dockerHost: string): Docker {
  const address = addressOf(dockerHost);
  const isTls = address['protocol'] === 'https';
  // A connection for each call: one that was kept would have died with an engine that was restarted.
  const agent = isTls ? new HttpsAgent() : new HttpAgent();
  // It brings gRPC and SSH along: only who has an engine loads it.
  const Dockerode = createRequire(import.meta.url)('dockerode') as typeof Docker;
  const docker = new Dockerode({ ...address, agent } as Docker.DockerOptions);
  guard(docker.modem as unknown as Modem, isTls);
  return docker;
}

/**
 * What tells one engine from another: no engine says it of itself that would be the same after a restart. Not by the name of
 * this machine, which is another one for each container that has the same socket.
 */
export function digestOf(dockerHost: string): string {
  const { socketPath, host, port } = addressOf(dockerHost);
  return hash('sha256', socketPath ?? `${host}:${port}`, 'hex').slice(0, 16);
}

/**
 * Each part is said, also as nothing: what is left out, dockerode takes from the environment. The certificates in
 * DOCKER_CERT_PATH are, as every Docker client does.
 */
function addressOf(dockerHost: string): Record<string, string | undefined> {
  const none = { host: undefined, port: undefined, socketPath: undefined, protocol: 'http', pathPrefix: '/' };
  if (dockerHost.startsWith('unix:///')) return { ...none, socketPath: dockerHost.slice('unix://'.length) };
  const url = URL.canParse(dockerHost) ? new URL(dockerHost) : undefined;
  if (!url || !['tcp:', 'http:', 'https:'].includes(url.protocol) || !url.hostname) throw noHost(dockerHost);
  const isTls = url.protocol === 'https:' || (url.protocol === 'tcp:' && url.port === TLS_PORT);
  const protocol = isTls ? 'https' : 'http';
  return { ...none, host: url.hostname, port: url.port || portOf(url.protocol), protocol };
}

function portOf(protocol: string): string {
  if (protocol === 'tcp:') return '2375';
  return protocol === 'https:' ? '443' : '80';
}

function noHost(dockerHost: string): Error {
  return new Error(
    `DOCKER_HOST is "${dockerHost}": expected unix:///path/to/the.sock, tcp://host:port, http://… or https://….`,
  );
}

/** Its own transport reads without end, follows redirects, and waits for ever when an answer breaks off. */
function guard(modem: Modem, isTls: boolean): void {
  const send = isTls ? httpsRequest : httpRequest;
  modem.buildRequest = (options, { statusCodes }, data, callback) => {
    const request = send(options, (response) => {
      const settle = (error: unknown, answer: unknown): void =>
        modem.buildPayload(error, false, statusCodes, false, request, response, answer, callback);
      read(response).then(
        (answer) => settle(null, answer),
        (error: unknown) => settle(error, null),
      );
    });
    request.on('error', (error) => callback(error, null));
    request.end(data);
  };
}

async function read(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) throw new Error(`It answers with more than ${ANSWER_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const said = Buffer.concat(chunks).toString();
  try {
    return JSON.parse(said) as unknown;
  } catch {
    // An answer without a body, or a sentence.
    return said;
  }
}
