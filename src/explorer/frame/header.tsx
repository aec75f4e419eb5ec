import { useEffect, useRef } from 'preact/hooks'
import { endpoint } from '../graphql.ts'
import { frame } from '../network.ts'
import { type PageName, tools } from '../paths.ts'
import { linkTo, place } from '../router.ts'
import { texts } from '../texts.ts'
import { openKeyboardHelp } from './keyboard.tsx'
import { SearchBox } from './search-box.tsx'
import { switchTheme, theme } from './theme.ts'

/** The header of every page. */

/** A link of the header, which is marked on its page and on the pages of the objects that it lists. */
interface SectionLink {
  readonly label: string
  readonly objects?: readonly PageName[]
}

/** The pages that the header links to. */
const sections: readonly (readonly [page: PageName, link: SectionLink])[] = [
  ['home', { label: texts.nav.home }],
  ['milestones', { label: texts.nav.milestones, objects: ['milestone'] }],
  ['blocks', { label: texts.nav.blocks, objects: ['block'] }],
  ['transactions', { label: texts.nav.transactions, objects: ['transaction'] }],
  ['accounts', { label: texts.nav.accounts, objects: ['account'] }],
  ['tokens', { label: texts.nav.tokens, objects: ['token', 'foundry'] }],
  ['nfts', { label: texts.nav.nfts, objects: ['nft'] }],
  ['validators', { label: texts.nav.validators, objects: ['epoch'] }],
  ['chains', { label: texts.nav.chains, objects: ['chain'] }],
  ['decode', { label: texts.nav.tools, objects: tools }],
]

/** The value of `aria-current` of a link on an open page. */
function currentOf(page: PageName, { objects }: SectionLink, open: PageName | undefined) {
  if (open === page) return 'page'
  return open !== undefined && objects?.includes(open) ? 'true' : undefined
}

export function Header() {
  return (
    <header class="header">
      <div class="header-row">
        <a class="brand" href={linkTo('home')}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M8 0l8 8-8 8-8-8zM8 4L4 8l4 4 4-4z" />
          </svg>
          {texts.product}
        </a>
        <span class="network">{frame.value?.network.parameters.networkName}</span>
        <SearchBox />
        <button
          type="button"
          class="icon-button"
          title={texts.keys.open}
          aria-label={texts.keys.open}
          onClick={openKeyboardHelp}
        >
          ?
        </button>
        <button
          type="button"
          class="icon-button"
          title={texts.theme[theme.value]}
          aria-label={texts.theme[theme.value]}
          onClick={switchTheme}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.5" />
            <path d={themeSigns[theme.value]} fill="currentColor" />
          </svg>
        </button>
      </div>
      <Sections />
    </header>
  )
}

function Sections() {
  const nav = useRef<HTMLElement>(null)
  const open = place.value?.name
  useEffect(() => {
    // In a narrow window not all sections are visible.
    const { current } = nav
    const link = current?.querySelector<HTMLElement>('[aria-current]')
    if (current !== null && link != null)
      current.scrollLeft = link.offsetLeft + (link.offsetWidth - current.clientWidth) / 2
  }, [open])
  return (
    <nav ref={nav} class="nav" aria-label={texts.nav.label}>
      {sections.map(([name, link]) => (
        <a key={name} href={linkTo(name)} aria-current={currentOf(name, link, open)}>
          {link.label}
        </a>
      ))}
      <a href={endpoint.pathname}>{texts.nav.query}</a>
    </nav>
  )
}

const themeSigns = {
  auto: 'M8 2a6 6 0 0 1 0 12z',
  light: 'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z',
  dark: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2z',
}
