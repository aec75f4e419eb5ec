import type { ComponentType } from 'preact'
import type { TypedDocument } from './graphql.ts'
import { definePage, type Page, type PageDefinition, type PageViewProps } from './page.tsx'
import { tools } from './paths.ts'
import { linkTo, place } from './router.ts'
import { toolTexts } from './texts-tools.ts'

interface ToolPageDefinition<Data, Variables>
  extends Pick<PageDefinition<Data, Variables>, 'variables' | 'live'> {
  readonly title: string
}

/** Defines a page whose heading has links to all tools. */
export function toolPage<Data, Variables extends object>(
  document: TypedDocument<Data, Variables>,
  View: ComponentType<PageViewProps<Data>>,
  { title, ...rest }: ToolPageDefinition<Data, Variables>,
): Page {
  return definePage({
    ...rest,
    document,
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
          {toolTexts[name].title}
        </a>
      ))}
    </nav>
  )
}
