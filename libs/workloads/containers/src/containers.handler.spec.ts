import { StoreUnavailableError, type Run } from '#nestjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProvisionHandler } from './containers.handler.js';
import { provision } from './lease-kinds.js';
import { EngineUnavailable, NoSuchImage, type Container } from './engines/container-engine.js';

const LAST = { attempt: provision.attempts, signal: new AbortController().signal } as Run;
const MADE: Container = { id: 'box', name: 'lease-1', labels: {}, createdAt: 1, running: true };

describe('the last attempt to create a container', () => {
  let closed: string[];
  let begin: () => Promise<string[]>;
  let attach: () => Promise<string[]>;
  let create: (spec: object, signal: AbortSignal) => Promise<Container>;
  beforeEach(() => {
    closed = [];
    begin = async () => ['make', 'alpine', '1', '12000'];
    attach = async () => ['running'];
    create = async () => MADE;
  });
  afterEach(() => void vi.restoreAllMocks());

  it('ends the lease when the engine did not create it', async () => {
    create = () => Promise.reject(new EngineUnavailable('away'));
    await expect(provisioned()).rejects.toThrow('away');
    expect(closed).toEqual(['failed: away']);
  });

  it('ends the lease when there is nothing to create', async () => {
    create = () => Promise.reject(new NoSuchImage('no such image'));
    expect(await provisioned()).toEqual({ containerId: null, why: 'no such image' });
    expect(closed).toEqual(['failed: no such image']);
  });

  it('ends nothing when the store did not answer, because the container may be recorded', async () => {
    attach = () => Promise.reject(new StoreUnavailableError('No answer.'));
    await expect(provisioned()).rejects.toThrow(StoreUnavailableError);
    expect(closed).toEqual([]);
  });

  it('gives the engine the time that the store call has left', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    begin = () => takes(4_000);
    expect(await provisioned()).toEqual({ containerId: 'box' });
    expect(limits).toHaveBeenCalledExactlyOnceWith(expect.toSatisfy((ms) => ms > 5_000 && ms <= 6_000));
  });

  it('makes no engine call when no time is left', async () => {
    let asked = 0;
    create = async () => ((asked += 1), MADE);
    begin = () => takes(10_000);
    await expect(provisioned()).rejects.toThrow('no time left');
    expect(asked).toBe(0);
  });

  /** Makes `begin` answer after the given time. */
  async function takes(ms: number): Promise<string[]> {
    const from = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => from + ms);
    return ['make', 'alpine', '1', '12000'];
  }

  function provisioned(): Promise<object> {
    const parts = {
      leases: { begin: () => begin(), leftMs: async () => [60_000], attach: () => attach() },
      engine: {
        address: async () => 'bench',
        create: (spec: object, signal: AbortSignal) => create(spec, signal),
      },
      signature: { sign: async () => ({}) },
      closing: { close: async (_: string, how: string, why: string) => closed.push(`${how}: ${why}`) },
      removal: { isOf: async () => true },
    };
    return handlerOf(parts).handle({ leaseId: '1' }, LAST);
  }
});

type Parts = Readonly<Record<'leases' | 'engine' | 'signature' | 'closing' | 'removal', object>>;

function handlerOf({ leases, engine, signature, closing, removal }: Parts): ProvisionHandler {
  const parts = [leases, engine, signature, closing, removal];
  return new ProvisionHandler(...(parts as unknown as ConstructorParameters<typeof ProvisionHandler>));
}
