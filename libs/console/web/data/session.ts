import { MooringClient, ProblemError, type AnswerOf } from '#client';
import { computed, signal } from '@preact/signals';

export type Me = AnswerOf<'GET /v1/me'>;
export type Scope = Me['scopes'][number];

const KEPT = 'mooring.key';

/** The console is beside the routes: `/mooring/console` shows what `/mooring/v1` answers. */
const BASE = location.origin + location.pathname.replace(/\/console\/?$/, '');

/** The key stays in this tab. It is sent as a header, never as a cookie. */
const key = signal(sessionStorage.getItem(KEPT) ?? undefined);

export const api = computed(() => new MooringClient({ url: BASE, key: key.value }));

/** Undefined until the api has said what the caller may do. */
export const me = signal<Me | undefined>(undefined);
/** Why there is no answer to that: a key is missing, or the api is away. */
export const refusal = signal<Error | undefined>(undefined);

export function can(...scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => me.value?.scopes.includes(scope));
}

export function hasKey(): boolean {
  return key.value !== undefined;
}

export async function enter(typed?: string): Promise<void> {
  if (typed !== undefined) key.value = typed;
  refusal.value = undefined;
  try {
    me.value = await api.value.call('GET /v1/me');
    if (typed !== undefined) sessionStorage.setItem(KEPT, typed);
  } catch (error) {
    refusal.value = error as Error;
  }
}

export function leave(): void {
  sessionStorage.removeItem(KEPT);
  key.value = undefined;
  me.value = undefined;
  void enter();
}

export function isStatus(error: unknown, ...statuses: readonly number[]): boolean {
  return error instanceof ProblemError && statuses.includes(error.status);
}

/** A call that finds its key refused leads back to the form that asks for one. */
export function noteRefusal(error: unknown): void {
  if (!isStatus(error, 401)) return;
  me.value = undefined;
  refusal.value = error as Error;
}
