import type { JSX } from 'preact';
import { liveState, type LiveState } from '../data/live.js';
import { can, hasKey, leave, me } from '../data/session.js';
import { link, route } from '../router.js';
import { isHelping, isSearching } from './keyboard.js';
import { PLACES, type Place } from './places.js';
import { nextTheme, theme } from './theme.js';

const LIVE: Readonly<Record<LiveState, string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  paused: 'Paused',
  lost: 'Reconnecting…',
  off: 'Not live',
};

/** A list that the key may not read is not offered. */
function isOffered({ path }: Place): boolean {
  return !['operations', 'audit'].includes(path) || can('admin');
}

export function Navigation({ skip }: { readonly skip: (event: Event) => void }): JSX.Element {
  const [here = ''] = route.value.path;
  return (
    <header class="bar">
      <a class="skip" href="#" onClick={skip}>
        Skip to the content
      </a>
      <a class="brand" href="#/" aria-label="Mooring, overview">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <circle cx="16" cy="7" r="3" />
          <path d="M16 10v16M10 15h12M6 19c0 5 4 7 10 7s10-2 10-7" />
        </svg>
        Mooring
      </a>
      <button type="button" class="find" onClick={() => (isSearching.value = true)}>
        <span>Find anything</span> <kbd>/</kbd>
      </button>
      <nav aria-label="Pages">
        {PLACES.map((group, i) => (
          <ul key={i}>
            {group.filter(isOffered).map(({ name, path }) => (
              <li key={path}>
                <a href={link([path].filter(Boolean))} aria-current={here === path ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <div class="foot">
        <span class={`live is-${liveState.value}`} role="status">
          {LIVE[liveState.value]}
        </span>
        {me.value?.name && <span class="quiet who">{me.value.name}</span>}
        <button type="button" class="plain" onClick={nextTheme}>
          Theme: {theme.value}
        </button>
        <button type="button" class="plain" onClick={() => (isHelping.value = true)} aria-label="Help: keys">
          ?
        </button>
        {hasKey() && (
          <button type="button" class="plain" onClick={leave}>
            Forget the key
          </button>
        )}
      </div>
    </header>
  );
}
