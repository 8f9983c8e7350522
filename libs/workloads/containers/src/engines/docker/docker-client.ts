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

/** Larger than any valid response; an engine that sends more is treated as broken. */
const ANSWER_BYTES = 8 * 1024 * 1024;
const TLS_PORT = '2376';

type Callback = (error: unknown, answer: unknown) => void;

/** The part of dockerode's transport that is replaced here. */
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

/** Opens a dockerode client for a `DOCKER_HOST`. */
export function openDockerClient(dockerHost: string): Docker {
  const address = addressOf(dockerHost);
  const isTls = address['protocol'] === 'https';
  // One connection per call: a kept connection would fail after the engine restarts.
  const agent = isTls ? new HttpsAgent() : new HttpAgent();
  // Loaded lazily, because dockerode brings gRPC and SSH along and only some processes have an engine.
  const Dockerode = createRequire(import.meta.url)('dockerode') as typeof Docker;
  const docker = new Dockerode({ ...address, agent } as Docker.DockerOptions);
  guard(docker.modem as unknown as Modem, isTls);
  return docker;
}

/**
 * Identifies an engine by its address, because engines report no id that survives a restart. The host name is
 * not part of it: containers that share one socket have different host names.
 */
export function digestOf(dockerHost: string): string {
  const { socketPath, host, port } = addressOf(dockerHost);
  return hash('sha256', socketPath ?? `${host}:${port}`, 'hex').slice(0, 16);
}

/**
 * Sets every part, even to undefined, because dockerode fills gaps from the environment. The certificates
 * come from DOCKER_CERT_PATH, as for every Docker client.
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

/**
 * Replaces dockerode's transport, which reads without limit, follows redirects, and waits forever when a
 * response breaks off.
 */
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
    // A response without a body, or with plain text.
    return said;
  }
}
