import { errorStatuses } from '../error-table.ts'
import { builder } from './builder.ts'

/** The codes of errors as a type, so that clients can list what they handle. */

/** What only GraphQL refuses. */
const graphqlCodes = {
  BAD_USER_INPUT: 'An argument or a variable does not fit its type.',
  GRAPHQL_PARSE_FAILED: 'The document is no GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
}

const values = {
  ...Object.fromEntries(
    [...errorStatuses].map(([code, status]) => [
      code,
      { description: `Has the status ${status} on REST.` },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(graphqlCodes).map(([code, description]) => [code, { description }]),
  ),
}

/** Every value that `extensions.code` of an error has. */
export const ErrorCode = builder.enumType('ErrorCode', {
  description:
    'Every value that extensions.code of an error has. The message says in words what is wrong and where; the other members of extensions are its details.',
  values,
})
