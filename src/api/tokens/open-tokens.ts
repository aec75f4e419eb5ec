import { existsSync } from 'node:fs'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { ok, type Result } from '../../lib/result.ts'
import type { AuthDeps } from './auth.ts'
import { type KeySetSource, openKeySet } from './key-set.ts'
import { openRevocations } from './revocations.ts'
import { type KeyError, type KeySource, openSigningKey } from './signing-key.ts'
import type { TokenRules } from './token.ts'
import type { TokenFileUnusable } from './watched-file.ts'

/** Opens everything that token verification needs, from the settings of the operator. */

export interface TokenSettings {
  /** The key that signs and verifies tokens: a shared secret for HS256 if one is set, or else a key file. */
  readonly signing: KeySource
  /** The keys of an external issuer. */
  readonly keySet: KeySetSource | undefined
  readonly tokenRules: TokenRules
  /** Path of the file that lists revoked tokens. */
  readonly revocationsFile: string | undefined
}

/** The opened files of token verification. */
export interface OpenTokens {
  /** Opens the key, and creates a missing key file. Called once nothing else can refuse the start. */
  auth(): Promise<Result<AuthDeps, KeyError>>
  close(): void
}

/** Opens the files of token verification. Writes nothing, so a start with an unusable file is refused before it creates a ledger. */
export async function openTokens(
  { revocationsFile, keySet: source, tokenRules: rules, signing }: TokenSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Result<OpenTokens, KeyError | TokenFileUnusable>> {
  if (signing.kind === 'file' && existsSync(signing.path)) {
    const key = await openSigningKey(signing)
    if (!key.ok) return key
  }
  const revocations =
    revocationsFile === undefined ? undefined : await openRevocations(revocationsFile, log)
  if (revocations?.ok === false) return revocations
  const keySet = source && (await openKeySet(source, log))
  if (keySet?.ok === false) {
    revocations?.value.close()
    return keySet
  }
  return ok({
    auth: async () => {
      const key = await openSigningKey(signing)
      if (!key.ok) return key
      const others = { keySet: keySet?.value, revocations: revocations?.value }
      return ok({ key: key.value, ...others, rules, clock })
    },
    close: () => {
      revocations?.value.close()
      keySet?.value.close()
    },
  })
}
