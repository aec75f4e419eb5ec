import { signal } from '@preact/signals'

/** The theme: the system theme, or the theme that the user chose. */

const themes = ['auto', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

export const theme = signal<Theme>(chosen())

const systemDark = matchMedia('(prefers-color-scheme: dark)')

/** Whether the theme of the system is dark, which may change at sunset. */
export const isSystemDark = signal(systemDark.matches)

systemDark.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches
})

/** Whether pages are dark now. */
export function isDark(): boolean {
  return theme.peek() === 'dark' || (theme.peek() === 'auto' && isSystemDark.peek())
}

export function switchTheme(): void {
  const next = themes[(themes.indexOf(theme.peek()) + 1) % themes.length] ?? 'auto'
  theme.value = next
  const { dataset } = document.documentElement
  if (next === 'auto') delete dataset.theme
  else dataset.theme = next
  try {
    if (next === 'auto') localStorage.removeItem('theme')
    else localStorage.setItem('theme', next)
  } catch {
    // A browser without local storage forgets the choice when the tab closes.
  }
}

function chosen(): Theme {
  const set = document.documentElement.dataset.theme
  return set === 'light' || set === 'dark' ? set : 'auto'
}
