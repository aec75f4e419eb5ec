import { signal } from '@preact/signals'

/** Notices that the gateway was upgraded after the explorer was loaded. The explorer then loads itself again. */

/** Whether code of this build could not be loaded. */
export const isUnloaded = signal(false)

/** Whether the gateway refused a document of this build. */
export const isRefused = signal(false)

/** The codes of such refusals: the schema has changed, or the gateway accepts only the documents of its own build. */
export const refusedCodes: ReadonlySet<string> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'DOCUMENT_NOT_TRUSTED',
])

/** Loads code on demand; resolves to `undefined` if that fails. */
export async function loaded<Module>(code: Promise<Module>): Promise<Module | undefined> {
  try {
    return await code
  } catch {
    isUnloaded.value = true
    return undefined
  }
}
