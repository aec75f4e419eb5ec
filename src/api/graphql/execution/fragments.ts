import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  Kind,
} from 'graphql'

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

/** A selection of the fields of a fragment. */
export type Spread = FragmentSpreadNode | InlineFragmentNode

export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]))
}

/** Returns the fragment whose fields are selected; `undefined` if the document does not define it. */
export function fragmentAt(
  spread: Spread,
  fragments: Fragments,
): FragmentDefinitionNode | InlineFragmentNode | undefined {
  return spread.kind === Kind.INLINE_FRAGMENT ? spread : fragments.get(spread.name.value)
}
