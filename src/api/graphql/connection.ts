import type { ObjectRef } from '@pothos/core'
import { builder } from './builder.ts'
import { type Dependence, dependsOn } from './execution/dependence.ts'
import { free, reads } from './execution/prices.ts'

/** Relay connections: a page of a list with its edges, nodes and cursors. */

type Types = typeof builder.$inferSchemaTypes

/** A page of a service. `hasNextPage` and `hasPreviousPage` may read the database. */
export interface Page<N> {
  readonly nodes: readonly N[]
  /** Returns the cursor of an element by its index in the page. */
  cursorAt(index: number): string
  hasNextPage(): Promise<boolean>
  hasPreviousPage(): Promise<boolean>
}

/** An element of a page with its index. */
interface Edge<M> {
  readonly page: Page<unknown>
  readonly index: number
  readonly node: M
}

export interface ConnectionOptions<N, M> {
  readonly description: string
  readonly edgeDescription?: string
  readonly pageInfoDescription?: string
  /** Dependence of all pages and edges, in addition to the field that returns the page. */
  readonly dependsOn?: Dependence
  /** Converts an element to its node, if the node is not the element itself. */
  nodeOf?(element: N): M
}

/** Declares the types `NAMEConnection` and `NAMEEdge`. */
export function connection<N, P extends Page<N>, M = N>(
  name: string,
  node: ObjectRef<Types, M>,
  options: ConnectionOptions<N, M>,
) {
  const { description, nodeOf } = options
  const { pageInfoDescription = 'The position of the page in the list.' } = options
  const nodesIn = ({ nodes }: Page<N>) =>
    (nodeOf === undefined ? [...nodes] : nodes.map(nodeOf)) as M[]
  const edge = edgeType(name, node, options)
  return builder.objectRef<P>(`${name}Connection`).implement({
    extensions: dependsOn(options.dependsOn ?? 'NOW'),
    description,
    fields: (t) => ({
      edges: t.field({
        complexity: free,
        type: [edge],
        description: 'The elements of the page with their cursors, in the order of the list.',
        resolve: (page) => nodesIn(page).map((node, index) => ({ page, index, node })) as never,
      }),
      nodes: t.field({
        complexity: free,
        type: [node],
        description: 'The elements of the page, in the order of the list.',
        resolve: (page) => nodesIn(page) as never,
      }),
      pageInfo: t.field({
        complexity: reads(2),
        type: builder.pageInfoRef(),
        description: pageInfoDescription,
        resolve: async (page) => {
          const { length } = page.nodes
          return {
            hasNextPage: await page.hasNextPage(),
            hasPreviousPage: await page.hasPreviousPage(),
            startCursor: length === 0 ? null : page.cursorAt(0),
            endCursor: length === 0 ? null : page.cursorAt(length - 1),
          }
        },
      }),
    }),
  })
}

function edgeType<N, M>(name: string, node: ObjectRef<Types, M>, options: ConnectionOptions<N, M>) {
  const { edgeDescription = 'An element of the list and its cursor.' } = options
  return builder.objectRef<Edge<M>>(`${name}Edge`).implement({
    extensions: dependsOn(options.dependsOn ?? 'NOW'),
    description: edgeDescription,
    fields: (t) => ({
      cursor: t.string({
        description: 'The opaque cursor of the element in the list.',
        resolve: ({ page, index }) => page.cursorAt(index),
      }),
      node: t.field({
        complexity: free,
        type: node,
        description: 'The element.',
        resolve: ({ node }) => node as never,
      }),
    }),
  })
}
