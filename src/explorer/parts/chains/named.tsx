import type { ComponentChildren } from 'preact'
import { byId } from '../../page.tsx'
import type { Place } from '../../router.ts'
import { chainTexts } from '../../texts-chains.ts'
import type { Column } from '../tables/table.tsx'
import { Isolated } from '../values/isolated.tsx'
import { type MetadataEntry, nameIn } from './metadata-rows.ts'

/** Objects that have a name in their metadata: native tokens and NFTs. */

interface Named {
  readonly immutableMetadata: { readonly entries: readonly MetadataEntry[] } | null
}

interface Words {
  readonly kind: string
  readonly heading: string
  readonly title: (name: string) => string
}

/** Shared parts of the pages of named objects: as `byId`, but with the name in the title of the tab. */
export function byName<Data>(words: Words, object: (data: Data) => Named | null) {
  const shared = byId(words)
  return {
    ...shared,
    title: (place: Place, data: Data | undefined) => {
      const name = data && nameOf(object(data))
      return name === undefined ? shared.title(place) : words.title(name)
    },
  }
}

/** The heading of the page of a named object. */
export function headingOf(item: Named, { heading }: Words): ComponentChildren {
  const name = nameOf(item)
  if (name === undefined) return heading
  return (
    <>
      {heading} <Isolated of={name} />
    </>
  )
}

function nameOf(item: Named | null): string | undefined {
  return nameIn(item?.immutableMetadata?.entries)
}

export const nameColumn: Column<Named> = {
  head: chainTexts.lists.name,
  cell: (item) => (
    <span class="metadata-value">
      <Isolated of={nameOf(item) ?? '–'} />
    </span>
  ),
}
