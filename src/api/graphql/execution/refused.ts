import { errorRowOf } from '../../errors/error-table.ts'
import { toGraphQL } from '../../errors/errors.ts'
import type { GatewayError } from '../../errors/gateway-error.ts'
import { json, type RestResponse } from '../../rest/response.ts'

/** Returns the response for an error before execution, by default with the status and headers that REST uses for it. */
export function refusedGraphql(error: GatewayError, status?: number): RestResponse {
  const row = errorRowOf(error.code)
  const body = { errors: [toGraphQL(error).toJSON()] }
  return { ...json(status ?? row.status, body, row.headers?.(error)), code: error.code }
}
