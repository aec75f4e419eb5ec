import { linkTo, place } from '../router.ts'
import { toolTexts } from '../texts-tools.ts'

/** The names of the tools, each a page. */
export const tools = ['decode', 'verify', 'faucet', 'network', 'rich', 'health'] as const

/** The heading of a tool, with links to the other tools. */
export function ToolHeading({ title }: { readonly title: string }) {
  return (
    <div class="heading">
      <h1>{title}</h1>
      <nav class="choice" aria-label={toolTexts.tools}>
        {tools.map((name) => (
          <a
            key={name}
            href={linkTo(name)}
            aria-current={place.value?.name === name ? 'page' : undefined}
          >
            {toolTexts.pages[name]}
          </a>
        ))}
      </nav>
    </div>
  )
}
