import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.js';
import { RealEngine } from '../support/real-engines.js';
import { until } from '../support/until.js';

const REAP_MS = 2_000;
/** A container that ignores SIGTERM, has no network, and whose limits need no extra rights. */
const THEIRS = {
  Image: 'busybox',
  Entrypoint: ['tail', '-f', '/dev/null'],
  Cmd: [],
  StopSignal: 'SIGKILL',
  HostConfig: {
    NetworkMode: 'none',
    Ulimits: ['nofile', 'nproc'].map((Name) => ({ Name, Soft: 1_024, Hard: 1_024 })),
  },
};

interface LeaseAnswer {
  readonly id: string;
  readonly state: string;
  readonly expiresAt: string;
  readonly containerId: string | null;
  readonly endedBy?: string;
}

describe.each(RealEngine.all())('leases on $name', (real) => {
  let fleet: Fleet;
  let docker: Docker;

  beforeAll(async () => {
    docker = new Docker({ socketPath: real.host.slice('unix://'.length) });
    const env = { DOCKER_HOST: real.host, LEASE_REAP_EVERY: `${REAP_MS}ms`, LEASE_MEMORY_MB: '64' };
    fleet = await Fleet.start({ workers: 2, janitor: true, env });
  });

  afterAll(async () => {
    expect(await ours()).toEqual([]);
    await fleet.stop();
  });

  /** All containers of this fleet, with or without a lease. */
  const ours = async (): Promise<string[]> => {
    const filters = { label: [`mooring.fleet=${fleet.prefix}`] };
    return (await docker.listContainers({ all: true, filters })).map(({ Id }) => Id);
  };
  const isThere = async (id: string): Promise<boolean> => {
    const listed = await docker.listContainers({ all: true });
    return listed.some(({ Id }) => Id === id);
  };
  const ask = async (method: string, path: string, body?: object): Promise<LeaseAnswer> => {
    const answer = await fleet.request(method, `/v1/leases${path}`, body);
    expect(answer).toMatchObject({ status: method === 'GET' || path.endsWith('/renew') ? 200 : 202 });
    return answer.body as unknown as LeaseAnswer;
  };
  const lease = (duration: string): Promise<LeaseAnswer> => ask('POST', '', { image: 'busybox', duration });
  const untilState = (id: string, state: string): Promise<LeaseAnswer> =>
    until(
      async () => {
        const seen = await ask('GET', `/${id}`);
        return seen.state === state && seen;
      },
      `lease ${id} is ${state}`,
      60_000,
    );

  it('keeps a container for its time, and for as long again after a renewal', async () => {
    const { id } = await lease('6s');
    const running = await untilState(id, 'running');
    expect(await ours()).toEqual([running.containerId]);

    const renewed = await ask('POST', `/${id}/renew`, { duration: '9s' });
    expect(Date.parse(renewed.expiresAt)).toBeGreaterThan(Date.parse(running.expiresAt));
    await until(() => Date.now() > Date.parse(running.expiresAt), 'its first time is over');
    expect((await docker.getContainer(running.containerId!).inspect()).State.Running).toBe(true);

    const ended = await untilState(id, 'ended');
    expect(ended).toMatchObject({ endedBy: 'expired' });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(renewed.expiresAt));
    expect(await isThere(running.containerId!)).toBe(false);
  });

  it('ends a lease that is deleted, and one whose container was removed by hand', async () => {
    const [deleted, robbed] = await Promise.all([lease('10m'), lease('10m')]);
    await untilState(deleted.id, 'running');
    const { containerId } = await untilState(robbed.id, 'running');
    await ask('DELETE', `/${deleted.id}`);
    await docker.getContainer(containerId!).remove({ force: true });
    expect(await untilState(deleted.id, 'ended')).toMatchObject({ endedBy: 'deleted' });
    expect(await untilState(robbed.id, 'ended')).toMatchObject({ endedBy: 'container-gone' });
    expect(await ours()).toEqual([]);
  });

  it('fails a lease whose image is missing', async () => {
    const { id } = await ask('POST', '', { image: 'alpine', duration: '10m' });
    expect(await untilState(id, 'failed')).toMatchObject({
      why: 'The engine has no image "alpine", and none is pulled. Run: docker pull alpine',
    });
  });

  it('ends leases when workers are killed', async () => {
    const leases = await Promise.all(['3s', '4s', '5s', '6s'].map(lease));
    for (const worker of fleet.workers) worker.kill('SIGKILL');
    for (const worker of fleet.workers) await worker.exited;
    fleet.addWorker();
    fleet.addWorker();
    for (const { id } of leases) await untilState(id, 'ended');
    expect(await ours()).toEqual([]);
  });

  it('leaves foreign containers alone, also with our labels', async () => {
    const { id } = await lease('3s');
    const { containerId } = await untilState(id, 'running');
    const { Config, Name } = await docker.getContainer(containerId!).inspect();
    await untilState(id, 'ended');
    const copied = Config.Labels;
    const forged = { ...copied, 'mooring.signature': copied['mooring.signature']!.replaceAll(/./g, '0') };
    const theirs = await Promise.all([
      docker.createContainer({ ...THEIRS, name: `theirs-${fleet.prefix}` }),
      docker.createContainer({ ...THEIRS, name: `copied-${fleet.prefix}`, Labels: copied }),
      docker.createContainer({ ...THEIRS, name: Name.slice(1), Labels: forged }),
    ]);
    try {
      for (const container of theirs) await container.start();
      // Forced, so that young containers are not spared.
      for (let times = 0; times < 2; times += 1) await sweep();
      const left = await Promise.all(theirs.map(async (each) => (await each.inspect()).State.Running));
      expect(left).toEqual([true, true, true]);
    } finally {
      for (const container of theirs) await container.remove({ force: true });
    }
  });

  it('removes an own container without a lease', async () => {
    const { id } = await lease('3s');
    const { containerId } = await untilState(id, 'running');
    const { Config, Name } = await docker.getContainer(containerId!).inspect();
    await untilState(id, 'ended');
    // Like a create call that reaches the engine after its lease ended.
    const late = { ...THEIRS, name: Name.slice(1), Labels: Config.Labels };
    await (await docker.createContainer(late)).start();
    await sweep();
    expect(await ours()).toEqual([]);
  });

  it('ends all leases when the engine restarts in the middle', async () => {
    const leases = await Promise.all(['2s', '4s', '6s', '8s', '10s'].map(lease));
    await untilState(leases[3]!.id, 'running');
    await real.restart();
    await real.restart();
    for (const { id } of leases) await untilState(id, 'ended');
    expect(await ours()).toEqual([]);
  });

  it('ends a lease whose deadline passed while the engine hung', async () => {
    const { id } = await lease('3s');
    const { expiresAt } = await untilState(id, 'running');
    await real.freeze();
    try {
      await until(() => Date.now() > Date.parse(expiresAt) + REAP_MS, 'its time is over');
      expect((await ask('GET', `/${id}`)).state).not.toBe('ended');
    } finally {
      await real.thaw();
    }
    await untilState(id, 'ended');
    expect(await ours()).toEqual([]);
  });

  async function sweep(): Promise<void> {
    const asked = await fleet.request('POST', '/v1/admin/sweeps/leases', { force: true });
    expect(asked).toMatchObject({ status: 202 });
    await until(async () => {
      const { body } = await fleet.request('GET', `/v1/admin/sweeps/${String(asked.body['sweepId'])}`);
      return body['state'] === 'done';
    }, 'leases and containers were compared');
  }
});
