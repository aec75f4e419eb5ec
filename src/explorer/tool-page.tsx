import { definePage, type Page, type PageDefinition } from './page.tsx'
import { linkTo, place } from './router.ts'
import { toolTexts } from './texts-tools.ts'

/** The names of the tools, each a page. */
const tools = ['decode', 'verify', 'faucet', 'network', 'rich', 'health'] as const

interface ToolPageDefinition<Data, Variables>
  extends Omit<PageDefinition<Data, Variables>, 'title' | 'isMissing' | 'target'> {
  readonly title: string
}

/** A page whose heading has links to all tools. */
export function toolPage<Data, Variables extends object>({
  title,
  View,
  ...rest
}: ToolPageDefinition<Data, Variables>): Page {
  return definePage({
    ...rest,
    title: () => title,
    View: (props) => (
      <>
        <div class="heading">
          <h1>{title}</h1>
          <ToolNav />
        </div>
        <View {...props} />
      </>
    ),
  })
}

function ToolNav() {
  return (
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
  )
}
