import {
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { fragmentAt, fragmentsOf } from '../graphql/execution/fragments.ts'

/** Determines from the document alone whether an operation is a feed that can be shared, and which operations share it. */

/** A subscription to ledger updates. */
export interface FeedPlan {
  /** Identifies the document and operation. Equal texts mostly have the same document, because the parser caches documents. */
  readonly id: number
  readonly operation: OperationDefinitionNode
  readonly field: FieldNode
  /** The variables that affect more than the start of the feed, in the order of their declaration. */
  readonly variables: readonly string[]
}

/** Returns the plan of a valid operation; `undefined` if it is not a feed, or if a directive may skip the feed. */
export function feedPlanOf(
  document: DocumentNode,
  operationName: string | null | undefined,
): FeedPlan | undefined {
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== 'subscription') return undefined
  if (!planByOperation.has(operation)) {
    planByOperation.set(operation, makePlan(document, operation))
  }
  return planByOperation.get(operation)
}

const planByOperation = new WeakMap<OperationDefinitionNode, FeedPlan | undefined>()
let plansMade = 0

/** The arguments that only determine where a feed starts. */
const beginnings = ['after', 'afterMilestone', 'snapshot']

function makePlan(document: DocumentNode, operation: OperationDefinitionNode) {
  const field = fieldIn(document, operation.selectionSet)
  if (field?.name.value !== 'ledgerUpdates') return undefined
  const own = (field.arguments ?? []).filter(({ name }) => beginnings.includes(name.value))
  const uses = variablesIn(document)
  const usesAsBeginning = own.flatMap(variablesIn)
  const variables = (operation.variableDefinitions ?? [])
    .map(({ variable }) => variable.name.value)
    .filter((name) => countOf(name, uses) > countOf(name, usesAsBeginning))
  plansMade++
  return { id: plansMade, operation, field, variables }
}

/** The first field of a selection, also inside of fragments. All fields of a valid subscription are the same. */
function fieldIn(document: DocumentNode, { selections }: SelectionSetNode): FieldNode | undefined {
  const [selection] = selections
  // A directive may skip the field, and then there is nothing to share.
  if (selection === undefined || (selection.directives?.length ?? 0) > 0) return undefined
  if (selection.kind === Kind.FIELD) return selection
  const fragment = fragmentAt(selection, fragmentsOf(document))
  return fragment && fieldIn(document, fragment.selectionSet)
}

/** The names of all used variables, one entry for each use. */
function variablesIn(node: DocumentNode | ArgumentNode): readonly string[] {
  const names: string[] = []
  visit<ASTNode>(node, {
    VariableDefinition: () => false,
    Variable: ({ name }) => {
      names.push(name.value)
    },
  })
  return names
}

function countOf(name: string, names: readonly string[]): number {
  return names.filter((other) => other === name).length
}
