import { dirname, join, normalize } from 'node:path';
import { readFileSync } from 'node:fs';
import { loadConfig } from '#runtime';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ApiEnv } from '../../apps/api/src/api-env.js';
import { JanitorEnv } from '../../apps/janitor/src/janitor-env.js';
import { WorkerEnv } from '../../apps/worker/src/worker-env.js';
import {
  envOf,
  manifestFiles,
  podOf,
  problemsOf,
  scaledObjectsOf,
  type Resource,
} from '../support/manifests.js';
import { root } from '../support/process.js';

interface Kustomization {
  readonly resources?: readonly string[];
  readonly patches?: readonly { readonly path?: string }[];
  readonly configMapGenerator?: readonly { readonly literals: readonly string[] }[];
}

const SCHEMAS: Record<string, z.ZodObject> = { api: ApiEnv, worker: WorkerEnv, janitor: JanitorEnv };
/** What the secrets of deploy/kubernetes/README.md hold. */
const SECRETS: Record<string, Record<string, string>> = {
  'mooring-store': { REDIS_URL: 'rediss://:secret@redis:6379', ARTIFACTS_URL: 's3://s3.example.com/mooring' },
  'mooring-api-keys': { API_KEYS: `shop:enqueue+read:${'a'.repeat(64)}` },
};

const files = manifestFiles();
const kustomizations = [...files].filter(([path]) => path.endsWith('kustomization.yaml'));
const patches = new Set(kustomizations.flatMap(([path]) => patchesOf(path)));
const resources = [...files]
  .filter(([path]) => !path.endsWith('kustomization.yaml') && !patches.has(path))
  .flatMap(([path, all]) => all.map((resource) => [path, resource.kind, resource] as const));
const ofKind = (kind: string): Resource[] =>
  resources.filter(([, each]) => each === kind).map(([, , resource]) => resource);
const deployments = ofKind('Deployment');
const workers = deployments.find(({ metadata }) => metadata.name === 'mooring-worker')!;
const pools = [...patches].map((path) => ({
  pool: dirname(path).split('/').at(-1)!,
  patch: files.get(path)![0]!,
}));
/** Every pod of the base, and each pool of workers. */
const pods = [
  ...deployments.map((deployment) => [deployment.metadata.name, podOf(deployment)] as const),
  ...pools.map(({ pool, patch }) => [`mooring-worker-${pool}`, podOf(workers, patch)] as const),
];

describe('the manifests for Kubernetes', () => {
  it('name the files that exist, and all of them', () => {
    const named = kustomizations.flatMap(([path]) => [...resourcesOf(path), ...patchesOf(path)]);
    expect(named.filter((path) => !files.has(path))).toEqual([]);
    const overlays = [...files.keys()].filter((path) => /^overlays\/[\w-]+\/kustomization/.test(path));
    expect(new Set([...named, ...overlays])).toEqual(new Set(files.keys()));
  });

  it.each(resources)('in %s are valid: %s', (_path, _kind, resource) => {
    expect(problemsOf(resource)).toEqual([]);
  });

  it('would be refused with a field that no resource has, at any depth', () => {
    const { metadata, spec } = structuredClone(workers);
    spec.template.spec.containers[0].readinesProbe = {};
    expect(problemsOf({ ...workers, metadata, spec })).toEqual([
      'spec/template/spec/containers/0/readinesProbe: no such field',
    ]);
    spec.replicas = 'two';
    expect(problemsOf({ ...workers, metadata, spec })).not.toEqual([]);
  });

  it('change in each pool what the workers have', () => {
    for (const { patch } of pools) {
      expect([patch.kind, patch.metadata.name]).toEqual(['Deployment', workers.metadata.name]);
      expect(
        problemsOf({ ...workers, spec: { ...workers.spec, template: { spec: podOf(workers, patch) } } }),
      ).toEqual([]);
    }
  });

  it('keep a pod available during a drain of its node', () => {
    const selected = ofKind('PodDisruptionBudget').map(({ spec }) => spec.selector);
    expect(selected).toEqual(deployments.map(({ spec }) => spec.selector));
  });
});

describe.each(pods)('the pods of %s', (_name, pod) => {
  const [container] = pod.containers;

  it('have no rights and a file system that they cannot write', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('have settings that their app accepts', () => {
    expect(() => settingsOf(container)).not.toThrow();
    expect(settingsOf(container)).toMatchObject({ HOST: '0.0.0.0' });
  });

  it('start an app that the image has, on the port that the probes ask', () => {
    expect(container.args).toEqual(['node', `dist/packed/${container.name}.js`]);
    const image = readFileSync(join(root, 'Dockerfile'), 'utf8');
    const [{ containerPort }] = container.ports;
    expect(image).toContain(`PORT=${containerPort} HEALTH_PORT=${containerPort} `);
    expect(['startup', 'liveness', 'readiness'].map((probe) => container[`${probe}Probe`].httpGet)).toEqual([
      { path: '/livez', port: 'http' },
      { path: '/livez', port: 'http' },
      { path: '/readyz', port: 'http' },
    ]);
  });

  it('end by themselves before they are killed', () => {
    const { SHUTDOWN_TIMEOUT, SHUTDOWN_READY_DELAY = 0 } = settingsOf(container);
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
      Number(SHUTDOWN_TIMEOUT) + 5_000,
    );
    expect(Number(SHUTDOWN_READY_DELAY)).toBeLessThan(Number(SHUTDOWN_TIMEOUT) / 2);
  });

  it('have limits, and a heap that leaves room below them', () => {
    const { requests, limits } = container.resources;
    expect(requests.memory).toBe(limits.memory);
    expect(Object.keys(requests)).toEqual(['cpu', 'memory']);
    const heap = Number(/max-old-space-size=(\d+)/.exec(envOf(container)['NODE_OPTIONS']!)?.[1]);
    expect(heap).toBeLessThanOrEqual(parseInt(limits.memory, 10) * 0.75);
  });
});

describe.each(['keda', 'keda-prometheus'])('the autoscaler of overlays/%s', (overlay) => {
  const scaled = scaledObjectsOf(overlay);

  it('scales each pool by its concurrency, and by its kinds where it asks the api', () => {
    const expected = pools.map(({ pool, patch }) => {
      const { WORKER_KINDS, WORKER_CONCURRENCY } = envOf(podOf(workers, patch).containers[0]);
      const kinds = overlay === 'keda' && { kinds: WORKER_KINDS };
      return { target: `mooring-worker-${pool}`, at: WORKER_CONCURRENCY, ...kinds };
    });
    const found = scaled.map(({ spec }) => {
      const [{ metadata }] = spec.triggers;
      const kinds = metadata.url && { kinds: new URL(metadata.url).searchParams.get('kinds') };
      return { target: spec.scaleTargetRef.name, at: metadata.targetValue ?? metadata.threshold, ...kinds };
    });
    expect(found.toSorted(byTarget)).toEqual(expected.toSorted(byTarget));
  });
});

function byTarget(a: { target: string }, b: { target: string }): number {
  return a.target < b.target ? -1 : 1;
}

function kustomizationAt(path: string): Kustomization {
  return files.get(path)![0] as unknown as Kustomization;
}

function resourcesOf(path: string): string[] {
  return (kustomizationAt(path).resources ?? []).map((name) => {
    const named = normalize(join(dirname(path), name));
    return named.endsWith('.yaml') ? named : join(named, 'kustomization.yaml');
  });
}

function patchesOf(path: string): string[] {
  return (kustomizationAt(path).patches ?? [])
    .filter((patch) => patch.path)
    .map((patch) => join(dirname(path), patch.path!));
}

/** What the app in the container reads: the variables of the image, of the configuration, of the secrets, its own. */
function settingsOf(
  container: { name: string; envFrom: { secretRef?: { name: string } }[] } & Parameters<typeof envOf>[0],
) {
  const { literals } = kustomizationAt('base/kustomization.yaml').configMapGenerator![0]!;
  const secrets = container.envFrom.map(({ secretRef }) => secretRef && SECRETS[secretRef.name]);
  const env = Object.assign({}, Object.fromEntries(literals.map((each) => each.split('='))), ...secrets);
  const settings: Record<string, unknown> = loadConfig(SCHEMAS[container.name]!, {
    ...env,
    ...envOf(container),
  });
  return settings;
}
