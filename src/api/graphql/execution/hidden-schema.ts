import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { toGraphQL } from '../../errors/errors.ts'

/** Hides the schema: refuses introspection, and removes suggested names from errors. */
export const hiddenSchema: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(noIntrospection)
    return ({ result, setResult }) => setResult(result.map(withoutSuggestion))
  },
  // Errors of variables arise when the operation starts.
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
      context.reportError(toGraphQL({ code: 'INTROSPECTION_OFF' }, { nodes: node }))
    },
  }
}

/** Removes the last sentence of a message in which the library suggests similar names. */
function withoutSuggestion(error: Error): GraphQLError {
  // A regular expression would search from each place where a value of the client contains these words.
  const at = error.message.endsWith('?') ? error.message.lastIndexOf(' Did you mean ') : -1
  const message = at === -1 ? error.message : error.message.slice(0, at)
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { originalError: error })
  if (message === error.message) return error
  const { nodes, extensions } = error
  return new GraphQLError(message, { nodes: nodes ?? null, extensions })
}
