/** GraphQL documents as code generators produce them, without a dependency on a GraphQL package. */

/**
 * A document with typed result and variables: `TypedDocumentNode` or `TypedDocumentString` of code generators, or the result of
 * `graphql()` of gql.tada. A plain string has no types.
 */
export type TypedDocument<Data, Variables> =
  | string
  | ((DocumentNode | DocumentText) & {
      readonly __apiType?: ((variables: Variables) => Data) | undefined
    })

/** A text that is an object, so that it can carry a type. */
export interface DocumentText {
  readonly length: number
  toString(): string
}

/** A parsed document (`DocumentNode` of graphql), or a part of one. */
export interface DocumentNode {
  readonly kind: string
  readonly operation?: string | undefined
  readonly name?: DocumentNode | undefined
  readonly alias?: DocumentNode | undefined
  readonly value?: string | boolean | DocumentNode | undefined
  readonly type?: DocumentNode | undefined
  readonly typeCondition?: DocumentNode | undefined
  readonly variable?: DocumentNode | undefined
  readonly defaultValue?: DocumentNode | undefined
  readonly selectionSet?: DocumentNode | undefined
  readonly definitions?: readonly DocumentNode[] | undefined
  readonly variableDefinitions?: readonly DocumentNode[] | undefined
  readonly directives?: readonly DocumentNode[] | undefined
  readonly arguments?: readonly DocumentNode[] | undefined
  readonly selections?: readonly DocumentNode[] | undefined
  readonly values?: readonly DocumentNode[] | undefined
  readonly fields?: readonly DocumentNode[] | undefined
}

/** Returns the text of a document. */
export function documentText(document: TypedDocument<unknown, never>): string {
  if (typeof document === 'string') return document
  return 'kind' in document ? print(document) : document.toString()
}

function print(node: DocumentNode): string {
  const { name, type, value } = node
  const tail = () => `${each(node.directives, ' ')} ${optional(node.selectionSet)}`
  switch (node.kind) {
    case 'Document':
      return each(node.definitions, '\n')
    case 'OperationDefinition':
      return `${node.operation} ${optional(name)}${list(node.variableDefinitions)}${tail()}`
    case 'FragmentDefinition':
      return `fragment ${optional(name)} on ${optional(node.typeCondition)}${tail()}`
    case 'VariableDefinition':
      return `${optional(node.variable)}: ${optional(type)}${optional(node.defaultValue, ' = ')}${tail()}`
    case 'SelectionSet':
      return `{${each(node.selections, ' ')} }`
    case 'Field':
      return `${optional(node.alias)}${node.alias ? ': ' : ''}${optional(name)}${list(node.arguments)}${tail()}`
    case 'FragmentSpread':
      return `...${optional(name)}${tail()}`
    case 'InlineFragment':
      return `...${optional(node.typeCondition, ' on ')}${tail()}`
    case 'Directive':
      return `@${optional(name)}${list(node.arguments)}`
    case 'Argument':
    case 'ObjectField':
      return `${optional(name)}: ${printValue(value)}`
    case 'Variable':
      return `$${optional(name)}`
    case 'StringValue':
      return JSON.stringify(value)
    case 'NullValue':
      return 'null'
    case 'ListValue':
      return `[${each(node.values, ' ')}]`
    case 'ObjectValue':
      return `{${each(node.fields, ' ')}}`
    case 'NamedType':
      return optional(name)
    case 'ListType':
      return `[${optional(type)}]`
    case 'NonNullType':
      return `${optional(type)}!`
    default:
      // A name, a number, a boolean or an enum value.
      return printValue(value)
  }
}

function printValue(value: DocumentNode['value']): string {
  return typeof value === 'object' ? print(value) : String(value)
}

function optional(node: DocumentNode | undefined, before = ''): string {
  return node === undefined ? '' : before + print(node)
}

/** Prints nodes, each preceded by the same text. */
function each(nodes: readonly DocumentNode[] = [], before: string): string {
  return nodes.map((node) => before + print(node)).join('')
}

function list(nodes: readonly DocumentNode[] = []): string {
  return nodes.length === 0 ? '' : `(${each(nodes, ' ')})`
}
