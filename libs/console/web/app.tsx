import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { followLive } from './data/live.js';
import { countRates } from './data/rates.js';
import { me } from './data/session.js';
import { pageOf } from './pages.js';
import { route } from './router.js';
import { Help } from './shell/help.js';
import { KeyForm } from './shell/key-form.js';
import { listenToKeys } from './shell/keyboard.js';
import { Navigation } from './shell/navigation.js';
import { Palette } from './shell/palette.js';
import { Notice } from './ui/notice.js';

countRates();
listenToKeys();

export function App(): JSX.Element {
  const { path } = route.value;
  const place = path.join('/');
  const isKnown = me.value !== undefined;
  const skip = (event: Event): void => {
    event.preventDefault();
    focusHeading();
  };
  useEffect(() => void (isKnown && followLive()), [isKnown]);
  useEffect(() => enterPage(place), [place]);
  if (!isKnown) return <KeyForm />;
  return (
    <>
      <Navigation skip={skip} />
      <main key={place}>{pageOf(path)}</main>
      <Palette />
      <Help />
      <Notice />
    </>
  );
}

function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}

/** A page begins at its top; its name is in the title, for the list of tabs and for screen readers. */
function enterPage(place: string): void {
  const [first = '', ...rest] = place.split('/');
  const name = first ? `${first[0]!.toUpperCase()}${first.slice(1)}` : 'Overview';
  document.title = [...rest.slice(-1), name, 'Mooring'].join(' · ');
  scrollTo(0, 0);
}
