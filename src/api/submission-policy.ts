import { err, ok, type Result } from '../lib/result.ts'
import type { Services } from '../service/services.ts'
import type { SubmissionNotAllowed } from './errors/api-errors.ts'
import type { Caller } from './tokens/auth.ts'

/** Checks whether a caller may submit blocks, before the body of the request is read. */
export async function checkSubmission(
  policy: Services['submissionPolicy'],
  caller: Caller,
): Promise<Result<void, SubmissionNotAllowed>> {
  if (policy === 'open') return ok(undefined)
  if (policy === 'token' && (await caller.canSubmit())) return ok(undefined)
  return err({ code: 'SUBMISSION_NOT_ALLOWED', policy })
}
