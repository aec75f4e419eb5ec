import {
  type ArgumentNode,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'

/** Whether an operation is a feed whose work can be shared, and with whom: read from its document alone. */

/** A subscription to ledger updates. */
export interface FeedPlan {
  /** Of the document and operation. Equal texts mostly have one document, by the cache of the parser. */
  readonly id: number
  readonly operation: OperationDefinitionNode
  readonly field: FieldNode
  /** The variables that say anything but where the feed begins, in the order of their declaration. */
  readonly variables: readonly string[]
}

/** The plan of a valid operation; `undefined` where it is no feed, or its feed is hidden in a fragment. */
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

/** The arguments that only say where a feed begins. */
const beginnings = ['after', 'afterMilestone', 'snapshot']

function makePlan(document: DocumentNode, operation: OperationDefinitionNode) {
  const [field] = operation.selectionSet.selections
  if (field?.kind !== Kind.FIELD || field.name.value !== 'ledgerUpdates') return undefined
  // With a directive the field may be left out; then there is nothing to share.
  if (field.directives !== undefined && field.directives.length > 0) return undefined
  const own = (field.arguments ?? []).filter(({ name }) => beginnings.includes(name.value))
  const uses = variablesIn(document)
  const usesAsBeginning = own.flatMap(variablesIn)
  const variables = (operation.variableDefinitions ?? [])
    .map(({ variable }) => variable.name.value)
    .filter((name) => countOf(name, uses) > countOf(name, usesAsBeginning))
  plansMade++
  return { id: plansMade, operation, field, variables }
}

/** The names of all variables that are used, as often as they are. */
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
