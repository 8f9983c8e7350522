import { loadAll } from 'js-yaml';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { root } from './process.js';

const require = createRequire(import.meta.url);

/** Where the manifests for Kubernetes are. */
export const MANIFESTS = join(root, 'deploy/kubernetes');

/** A resource of Kubernetes, as a file has it. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // oxlint-disable-next-line typescript/no-explicit-any -- checked against the schema of its kind
  readonly spec?: any;
}

/** All YAML files, by their path. */
export function manifestFiles(): Map<string, Resource[]> {
  const files = readdirSync(MANIFESTS, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name.endsWith('.yaml'),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(MANIFESTS, path), resourcesIn(readFileSync(path, 'utf8'))];
    }),
  );
}

export function scaledObjectsOf(overlay: string): Resource[] {
  const all = manifestFiles().get(join('overlays', overlay, 'scaled-objects.yaml'))!;
  return all.filter(({ kind }) => kind === 'ScaledObject');
}

export function resourcesIn(text: string): Resource[] {
  return loadAll(text) as Resource[];
}

/** What is wrong with a resource by the schema of its kind, including fields that the schema does not have. */
export function problemsOf(resource: Resource): string[] {
  const folder = resource.apiVersion.includes('.sh/') ? '@kubernetes-models/keda' : 'kubernetes-models';
  const models = require(`${folder}/${resource.apiVersion}`) as Record<string, ModelClass | undefined>;
  const Model = models[resource.kind];
  if (!Model) return [`There is no ${resource.kind} in ${resource.apiVersion}.`];
  const seen = new Set<object>();
  const unread = new Map<string, object>();
  try {
    // A model copies what it is made of, so it would read everything.
    Model.prototype.validate.call(watched(resource, '', seen, unread));
  } catch (error) {
    return [(error as Error).message];
  }
  // Of an object that may hold anything, nothing is read.
  return [...unread].filter(([, parent]) => seen.has(parent)).map(([path]) => `${path}: no such field`);
}

/** The pod of a deployment; with a patch, as Kustomize merges the only container: variables by name, all else by field. */
export function podOf(deployment: Resource, patch?: Resource) {
  const pod = deployment.spec.template.spec;
  const change = patch?.spec.template.spec.containers[0];
  const [container] = pod.containers;
  if (!change) return pod;
  const env = Object.entries({ ...envOf(container), ...envOf(change) }).map(([name, value]) => ({
    name,
    value,
  }));
  return { ...pod, containers: [{ ...container, ...change, env }] };
}

export function envOf({
  env = [],
}: {
  env?: { name: string; value: string }[];
}): Record<string, string | undefined> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

interface ModelClass {
  readonly prototype: { validate(this: unknown): void };
}

/** The value, such that it is known which of its fields the validation read. The schemas themselves allow unknown fields. */
function watched(value: unknown, path: string, seen: Set<object>, unread: Map<string, object>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const fields = Object.entries(value);
  for (const [key] of fields) if (!isList) unread.set(join(path, key), value);
  const inside = fields.map(([key, field]) => [key, watched(field, join(path, key), seen, unread)]);
  const copy = isList ? inside.map(([, field]) => field) : Object.fromEntries(inside);
  return new Proxy(copy as object, {
    get(target, key) {
      if (typeof key === 'string' && !isList) {
        seen.add(value);
        unread.delete(join(path, key));
      }
      return Reflect.get(target, key) as unknown;
    },
  });
}
