import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { toGraphQL } from '../errors.ts'

/** Keeps the schema from those who ask for it, or guess at its names. */
export const hiddenSchema: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(noIntrospection)
    return ({ result, setResult }) => setResult(result.map(withoutSuggestion))
  },
  // Variables are read when the operation begins.
  onExecute: () => ({
    onExecuteDone({ result, setResult }) {
      if (isAsyncIterable(result) || result.errors === undefined) return
      setResult({ ...result, errors: result.errors.map(withoutSuggestion) })
    },
  }),
  onSubscribe: () => ({
    onSubscribeResult({ result, setResult }) {
      if (isAsyncIterable(result) || result.errors === undefined) return
      setResult({ ...result, errors: result.errors.map(withoutSuggestion) })
    },
  }),
}

function noIntrospection(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const name = node.name.value
      if (name !== '__schema' && name !== '__type') return
      const { message, extensions } = toGraphQL({ code: 'INTROSPECTION_OFF' })
      context.reportError(new GraphQLError(message, { nodes: node, extensions }))
    },
  }
}

/** The library suggests what lies near a wrong name, in a sentence at the end. */
function withoutSuggestion(error: Error): GraphQLError {
  const message = error.message.replace(/ Did you mean .*\?$/s, '')
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { originalError: error })
  if (message === error.message) return error
  const { nodes, extensions } = error
  return new GraphQLError(message, { nodes: nodes ?? null, extensions })
}
