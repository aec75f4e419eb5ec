import { createListeners, type Listeners } from '../../lib/listeners.ts'
import type { Log } from '../../lib/log.ts'
import { err, ok, type Result } from '../../lib/result.ts'
import { type TokenFileUnusable, watchFile } from './watched-file.ts'

/**
 * Tokens that the operator has revoked, from a file with `jti ID` or `sub NAME` in each line. Lines that begin with `#` are
 * comments. Every process that can read the file loads its changes (docs/decisions/036).
 */

export interface Revocations {
  /** Whether a token is revoked, by its id or by the name of its holder. */
  isRevoked(token: { readonly id: string | undefined; readonly name: string }): boolean
  /** Notified when the file has changed. */
  readonly changes: Pick<Listeners<void>, 'add'>
  close(): void
}

/** Loads a file of revocations, and its later changes. */
export async function openRevocations(
  path: string,
  log: Log,
): Promise<Result<Revocations, TokenFileUnusable>> {
  const changes = createListeners<void>()
  const file = await watchFile({ path, log, parse: parseRevocations, onChange: changes.notify })
  if (!file.ok) return file
  const { current, close } = file.value
  return ok({
    isRevoked: ({ id, name }) =>
      current().subjects.has(name) || (id !== undefined && current().ids.has(id)),
    changes,
    close,
  })
}

interface Revoked {
  readonly ids: ReadonlySet<string>
  readonly subjects: ReadonlySet<string>
}

function parseRevocations(text: string): Result<Revoked, string> {
  const ids = new Set<string>()
  const subjects = new Set<string>()
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const [, kind, name = ''] = /^(jti|sub) (.*\S)\s*$/.exec(line) ?? []
    if (kind === undefined) return err(`line ${at + 1}: expected "jti ID" or "sub NAME"`)
    // A second space is more likely a slip than the beginning of a name, but it may be either.
    for (const one of [name, name.trimStart()]) (kind === 'jti' ? ids : subjects).add(one)
  }
  return ok({ ids, subjects })
}
