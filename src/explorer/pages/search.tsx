import { document, type SearchPageData } from '../../generated/explorer/search.ts'
import { capitalized } from '../format.ts'
import { definePage, type PageViewProps } from '../page.tsx'
import { Section } from '../parts/facts.tsx'
import { type Hit, hitOf } from '../parts/hits.tsx'
import { Isolated } from '../parts/values/isolated.tsx'
import { texts } from '../texts.ts'

/** The search results of a text, grouped by kind. */
export const page = definePage({
  document,
  variables: ({ query }) => ({ text: query.get('q') ?? '' }),
  title: ({ query }) => query.get('q') || texts.search.label,
  View: Search,
})

function Search({ data: { search }, place }: PageViewProps<SearchPageData>) {
  const groups = new Map<string, Hit[]>()
  for (const hit of search.hits.map(hitOf)) {
    groups.set(hit.group, [...(groups.get(hit.group) ?? []), hit])
  }
  return (
    <>
      <h1>
        {texts.search.resultsFor} <Isolated of={place.query.get('q') ?? ''} />
      </h1>
      {search.hits.length === 0 && (
        <div class="empty">
          <p>{capitalized(search.message ?? texts.search.nothing)}.</p>
          <p>{texts.search.canFind}</p>
        </div>
      )}
      {[...groups].map(([group, hits]) => (
        <Section key={group} title={group}>
          <ul class="hits">
            {hits.map((hit) => (
              <li key={hit.key} data-row>
                <a href={hit.address}>{hit.label}</a>
              </li>
            ))}
          </ul>
        </Section>
      ))}
    </>
  )
}
