import { errorStatuses } from '../error-table.ts'
import { enumOf } from './enum-of.ts'

/** The codes of errors as a type, so that clients can list what they handle. */

/** What only GraphQL refuses. */
const graphqlCodes = {
  BAD_USER_INPUT: 'An argument or a variable does not fit its type.',
  GRAPHQL_PARSE_FAILED: 'The document is no GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
}

/** Every value that `extensions.code` of an error has. */
export const ErrorCode = enumOf<string>(
  'ErrorCode',
  'Every value that extensions.code of an error has. The message says in words what is wrong and where; the other members of extensions are its details.',
  {
    ...Object.fromEntries(
      [...errorStatuses].map(([code, status]) => [code, `Has the status ${status} on REST.`]),
    ),
    ...graphqlCodes,
  },
)
