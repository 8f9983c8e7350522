import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MANIFESTS, problemsOf, resourcesIn, type Resource } from '../support/manifests.js';

const OVERLAYS = readdirSync(join(MANIFESTS, 'overlays'));
const HAS_KUBECTL = spawnSync('kubectl', ['version', '--client']).status === 0;

/** The same files are checked one by one by kubernetes.spec.ts, which needs no program. */
describe.runIf(HAS_KUBECTL).each(OVERLAYS)('kustomize builds overlays/%s', (overlay) => {
  const { status, stdout, stderr } = spawnSync(
    'kubectl',
    ['kustomize', join(MANIFESTS, 'overlays', overlay)],
    {
      encoding: 'utf8',
    },
  );
  const resources = status === 0 ? resourcesIn(stdout) : [];

  it('without complaint', () => {
    expect([status, stderr]).toEqual([0, '']);
  });

  it('into valid resources of one namespace, each once', () => {
    expect(resources.flatMap((resource) => problemsOf(resource))).toEqual([]);
    expect(resources.filter(({ metadata }) => metadata.namespace !== 'mooring')).toEqual([]);
    const names = resources.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('into pods that no other Deployment or budget selects, of an image with a tag', () => {
    const deployments = ofKind('Deployment');
    expect(deployments.length).toBeGreaterThan(2);
    for (const { metadata, spec } of deployments) {
      const { labels } = spec.template.metadata as { labels: Record<string, string> };
      for (const kind of ['Deployment', 'PodDisruptionBudget'])
        expect(
          ofKind(kind)
            .filter((each) => selects(each, labels))
            .map(nameOf),
        ).toEqual([metadata.name]);
      expect(spec.template.spec.containers[0].image).toMatch(/^registry\.example\.com\/mooring:\d/);
    }
  });

  it('into autoscalers of Deployments that have no number of pods of their own', () => {
    const scaled = ofKind('ScaledObject').map(({ spec }) => spec.scaleTargetRef.name as string);
    const without = ofKind('Deployment').filter(({ spec }) => spec.replicas === undefined);
    expect(without.map(nameOf).toSorted()).toEqual(scaled.toSorted());
  });

  function ofKind(kind: string): Resource[] {
    return resources.filter((resource) => resource.kind === kind);
  }
});

function nameOf({ metadata }: Resource): string {
  return metadata.name;
}

function selects({ spec }: Resource, labels: Record<string, string>): boolean {
  return Object.entries(spec.selector.matchLabels as object).every(([name, value]) => labels[name] === value);
}
