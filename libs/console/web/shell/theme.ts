import { signal } from '@preact/signals';

const KEPT = 'mooring.theme';
const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>((localStorage.getItem(KEPT) as Theme | null) ?? 'auto');

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  localStorage.setItem(KEPT, theme.value);
  applyTheme();
}
