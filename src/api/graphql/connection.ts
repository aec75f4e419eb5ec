import type { ObjectRef } from '@pothos/core'
import { builder } from './builder.ts'
import { type Dependence, dependsOn } from './dependence.ts'
import { free, reads } from './prices.ts'

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
  const { description } = options
  const { edgeDescription = 'An element of the list and its cursor.' } = options
  const { pageInfoDescription = 'Whether there is more in either direction.' } = options
  const { nodesOf, cursorOf, nodeOf } = options
  const extensions = dependsOn(options.dependsOn ?? 'NOW')
  const edge = builder.objectRef<N>(`${name}Edge`).implement({
    extensions,
    description: edgeDescription,
    fields: (t) => ({
      cursor: t.string({
        description: 'The place of the element in the list; opaque.',
        resolve: (one) => cursorOf(one as N),
      }),
      node: t.field({
        complexity: free,
        type: node,
        description: 'The element.',
        resolve: (one) => (nodeOf?.(one as N) ?? one) as never,
      }),
    }),
  })
  return builder.objectRef<P>(`${name}Connection`).implement({
    extensions,
    description,
    fields: (t) => ({
      edges: t.field({
        complexity: free,
        type: [edge],
        description: 'The elements of the page with their cursors, in the order of the list.',
        resolve: (page) => [...nodesOf(page)] as never,
      }),
      nodes: t.field({
        complexity: free,
        type: [node],
        description: 'The elements of the page, in the order of the list.',
        resolve: (page) =>
          (nodeOf === undefined ? [...nodesOf(page)] : nodesOf(page).map(nodeOf)) as never,
      }),
      pageInfo: t.field({
        complexity: reads(2),
        type: builder.pageInfoRef(),
        description: pageInfoDescription,
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
