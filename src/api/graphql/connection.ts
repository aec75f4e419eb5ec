import type { ObjectRef } from '@pothos/core'
import { builder } from './builder.ts'
import { type Dependence, dependsOn } from './dependence.ts'

/** Relay connections: a page of a list with its edges, nodes and cursors. */

type Types = typeof builder.$inferSchemaTypes

type Known = boolean | (() => Promise<boolean>)

/** A page as a service gives it; whether there are more in a direction may cost a read. */
export interface Page {
  readonly hasNextPage: Known
  readonly hasPreviousPage: Known
}

/** How a connection reads its pages. */
export interface ConnectionOptions<N, P, M> {
  readonly description: string
  readonly edgeDescription?: string
  readonly pageInfoDescription?: string
  /** What all of its pages and edges depend on, beside the field that gives the page. */
  readonly dependsOn?: Dependence
  /** The elements of a page. */
  nodesOf(page: P): readonly N[]
  cursorOf(element: N): string
  /** Where the node is not the element itself. */
  nodeOf?(element: N): M
}

/** Declares the types `NAMEConnection` and `NAMEEdge`. */
export function connection<N, P extends Page, M = N>(
  name: string,
  node: ObjectRef<Types, M>,
  options: ConnectionOptions<N, P, M>,
) {
  const { description, edgeDescription = '', pageInfoDescription = '' } = options
  const { nodesOf, cursorOf, nodeOf } = options
  const extensions = dependsOn(options.dependsOn ?? 'NOW')
  const edge = builder.objectRef<N>(`${name}Edge`).implement({
    extensions,
    ...(edgeDescription && { description: edgeDescription }),
    fields: (t) => ({
      cursor: t.string({ resolve: (one) => cursorOf(one as N) }),
      node: t.field({ type: node, resolve: (one) => (nodeOf?.(one as N) ?? one) as never }),
    }),
  })
  return builder.objectRef<P>(`${name}Connection`).implement({
    extensions,
    description,
    fields: (t) => ({
      edges: t.field({ type: [edge], resolve: (page) => [...nodesOf(page)] as never }),
      nodes: t.field({
        type: [node],
        resolve: (page) =>
          (nodeOf === undefined ? [...nodesOf(page)] : nodesOf(page).map(nodeOf)) as never,
      }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        ...(pageInfoDescription && { description: pageInfoDescription }),
        resolve: async (page) => {
          const nodes = nodesOf(page)
          const [first] = nodes
          const last = nodes.at(-1)
          return {
            hasNextPage: await isSo(page.hasNextPage),
            hasPreviousPage: await isSo(page.hasPreviousPage),
            startCursor: first === undefined ? null : cursorOf(first),
            endCursor: last === undefined ? null : cursorOf(last),
          }
        },
      }),
    }),
  })
}

async function isSo(known: Known): Promise<boolean> {
  return typeof known === 'boolean' ? known : await known()
}
