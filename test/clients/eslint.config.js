import { fileURLToPath } from 'node:url'
import plugin from '@graphql-eslint/eslint-plugin'

/** The linter rules for the schema; `schema-rules.ts` lists the exceptions. */
const schema = fileURLToPath(new URL('../../schema.graphql', import.meta.url))

export default [
  {
    files: ['**/*.graphql'],
    languageOptions: {
      parser: plugin.parser,
      parserOptions: { graphQLConfig: { schema } },
    },
    plugins: { '@graphql-eslint': plugin },
    rules: {
      ...plugin.configs['flat/schema-recommended'].rules,
      ...plugin.configs['flat/schema-relay'].rules,
      '@graphql-eslint/require-nullable-result-in-root': 'error',
      // Only stored objects have an id: their types implement Node, and all other types are values.
      '@graphql-eslint/strict-id-in-types': 'off',
      // A list that the protocol bounds, such as the inputs of a transaction, is not a connection.
      '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false }],
    },
  },
]
