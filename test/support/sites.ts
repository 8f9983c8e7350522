import { expect } from 'vitest';
import type { Fleet } from './fleet.js';
import type { TestProcess } from './process.js';
import { until } from './until.js';

export interface BuildSeen {
  readonly id: string;
  readonly state: string;
  readonly current: boolean;
  readonly version: number | null;
  readonly entities: number | null;
}

export interface RouteSeen {
  readonly path: string;
  readonly kind: string;
}

export interface SiteSeen {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly version: number;
  readonly routes: readonly RouteSeen[];
  readonly builds: readonly BuildSeen[];
}

/** A site of a fleet, as an api client sees it. */
export class TestSite {
  private constructor(
    private readonly fleet: Fleet,
    readonly id: string,
    private readonly api?: TestProcess,
  ) {}

  static async create(fleet: Fleet, body: object = {}): Promise<TestSite> {
    const answer = await fleet.request('POST', '/v1/sites', body);
    expect(answer).toMatchObject({ status: 201 });
    return new TestSite(fleet, String(answer.body['id']));
  }

  /** The same site through another api. */
  via(api: TestProcess): TestSite {
    return new TestSite(this.fleet, this.id, api);
  }

  async put(type: string, id: string, content: object = {}): Promise<number> {
    const body = JSON.stringify(content);
    return this.call('PUT', this.entity(type, id), body, { 'content-type': 'application/json' });
  }

  async remove(type: string, id: string): Promise<number> {
    return this.call('DELETE', this.entity(type, id));
  }

  async delete(): Promise<number> {
    return this.call('DELETE', `/v1/sites/${this.id}`);
  }

  async view(): Promise<SiteSeen> {
    const response = await fetch(`${this.url}/v1/sites/${this.id}`);
    const body: unknown = await response.json();
    expect({ status: response.status, body }).toMatchObject({ status: 200 });
    return body as SiteSeen;
  }

  /** Waits until the current build shows every change and no build is pending. */
  untilBuilt(withinMs?: number): Promise<SiteSeen> {
    return until(
      async () => {
        const view = await this.view();
        // A build whose worker was killed may run again after a later one is shown.
        const current = view.builds.find((build) => build.current);
        return current?.version === view.version && view.builds.every(isOver) && view;
      },
      `site ${this.id} is built`,
      withinMs,
    );
  }

  page(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
    return fetch(`${this.url}/sites/${this.id}${path}`, { method, headers, redirect: 'manual' });
  }

  async text(path: string): Promise<string> {
    const response = await this.page(path);
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    return response.text();
  }

  private get url(): string {
    return (this.api ?? this.fleet.api).url!;
  }

  private async call(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<number> {
    const response = await fetch(`${this.url}${path}`, { method, headers, ...(body && { body }) });
    await response.text();
    return response.status;
  }

  private entity(type: string, id: string): string {
    return `/v1/sites/${this.id}/entities/${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
  }
}

export function isOver({ state }: BuildSeen): boolean {
  return !['waiting', 'delayed', 'running', 'retrying'].includes(state);
}
