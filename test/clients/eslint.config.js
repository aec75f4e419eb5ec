import { fileURLToPath } from 'node:url'
import plugin from '@graphql-eslint/eslint-plugin'

/** The linter's rules for schemas that are asked of ours; `schema-rules.ts` has the exceptions. */
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
      // Only what is stored has an id: these types implement Node, and the content of them is values.
      '@graphql-eslint/strict-id-in-types': 'off',
      // A list that the protocol bounds, as the inputs of a transaction are, is no connection.
      '@graphql-eslint/relay-edge-types': ['error', { listTypeCanWrapOnlyEdgeType: false }],
    },
  },
]
