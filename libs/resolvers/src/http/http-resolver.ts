import { OwnerResolver, type Canaries, type OwnerLife } from '#nestjs';
import {
  BrokenCircuitError,
  circuitBreaker,
  ConsecutiveBreaker,
  ConstantBackoff,
  handleAll,
  handleType,
  retry,
  wrap,
} from 'cockatiel';
import type { LookupFunction } from 'node:net';
import { readLives } from './http-answer.js';
import { pinnedLookup } from './pinned-lookup.js';
import { ServiceCall, ServiceFailedError } from './service-call.js';
import { readServiceUrl } from './service-url.js';

export interface HttpResolverOptions {
  /** Owner type sent to the service. */
  readonly type: string;
  readonly url: string;
  /** Limit for the whole answer, including a retry. Default 2 s. */
  readonly timeoutMs?: number;
  readonly canaries?: Canaries;
  /** Whether the service may be in a private network. */
  readonly allowPrivate?: boolean;
  /** Value of the authorization header. */
  readonly authorization?: string;
  /** How long the circuit stays open after five consecutive failures. Default 30 s. */
  readonly restMs?: number;
  /** Replaces the DNS lookup of this machine. */
  readonly lookup?: LookupFunction;
}

const FAILURES_IN_A_ROW = 5;
const REST_MS = 30_000;
const TRY_AGAIN_AFTER_MS = 50;

/** Asks an HTTP service in batches: `POST {"type","ids"}`, answered with three lists. */
export class HttpResolver extends OwnerResolver {
  override readonly canaries: Canaries | undefined;
  override readonly timeoutMs: number | undefined;
  private readonly type: string;
  private readonly call: ServiceCall;
  private readonly policy;

  constructor(options: HttpResolverOptions) {
    super();
    const service = readServiceUrl(options.url, options.allowPrivate);
    if ('problem' in service) throw new TypeError(`The resolver of "${options.type}": ${service.problem}.`);
    const { authorization } = options;
    this.type = options.type;
    this.canaries = options.canaries;
    this.timeoutMs = options.timeoutMs;
    this.call = new ServiceCall(
      service,
      pinnedLookup(service.reaches, options.lookup),
      authorization ? { authorization } : {},
    );
    // The breaker wraps the retry, so a call that succeeds on retry counts as a success.
    this.policy = wrap(
      circuitBreaker(handleAll, {
        halfOpenAfter: options.restMs ?? REST_MS,
        breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
      }),
      retry(handleType(ServiceFailedError), {
        maxAttempts: 1,
        backoff: new ConstantBackoff(TRY_AGAIN_AFTER_MS),
      }),
    );
  }

  async resolve(ids: string[], signal: AbortSignal): Promise<ReadonlyMap<string, OwnerLife>> {
    try {
      return await this.policy.execute(async () => {
        signal.throwIfAborted();
        return readLives(await this.call.post({ type: this.type, ids }, signal), ids);
      });
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      const why = `The service failed ${FAILURES_IN_A_ROW} times in a row. It is not called again for a while.`;
      throw new Error(why, { cause: error });
    }
  }

  close(): void {
    this.call.close();
  }
}
