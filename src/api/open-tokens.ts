import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { ok, type Result } from '../lib/result.ts'
import type { AuthDeps } from './auth.ts'
import { type KeySet, type KeySetSource, openKeySet } from './key-set.ts'
import { openRevocations, type Revocations } from './revocations.ts'
import { type KeyError, type KeySource, openSigningKey } from './signing-key.ts'
import type { TokenRules } from './token.ts'
import type { TokenFileUnusable } from './watched-file.ts'

/** All that tokens are checked with, as the operator has set it. */

/** The settings of tokens. */
export interface TokenSettings {
  /** What tokens are signed and checked with: HS256 by a shared secret where there is one, else by a key file. */
  readonly signing: KeySource
  /** The keys of another issuer. */
  readonly keySet: KeySetSource | undefined
  readonly tokenRules: TokenRules
  /** The file that names revoked tokens. */
  readonly revocationsFile: string | undefined
}

/** The check of tokens, open. */
export interface OpenTokens {
  readonly auth: AuthDeps
  close(): void
}

/** Opens the check of tokens. The key file, which this may make, comes last: a refused start has written nothing. */
export async function openTokens(
  settings: TokenSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Result<OpenTokens, KeyError | TokenFileUnusable>> {
  const { revocationsFile, tokenRules: rules } = settings
  const opened: { close(): void }[] = []
  const close = () => {
    for (const one of opened) one.close()
  }
  const refused = <E>(refusal: E): E => {
    close()
    return refusal
  }
  let revocations: Revocations | undefined
  if (revocationsFile !== undefined) {
    const found = await openRevocations(revocationsFile, log)
    if (!found.ok) return found
    revocations = found.value
    opened.push(revocations)
  }
  let keySet: KeySet | undefined
  if (settings.keySet !== undefined) {
    const found = await openKeySet(settings.keySet, log)
    if (!found.ok) return refused(found)
    keySet = found.value
    opened.push(keySet)
  }
  const key = await openSigningKey(settings.signing)
  if (!key.ok) return refused(key)
  return ok({ auth: { key: key.value, keySet, rules, revocations, clock }, close })
}
