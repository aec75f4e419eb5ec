import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { openSigningKey } from '../api/tokens/signing-key.ts'
import { isSubject, issueToken, maxSubjectLength, type Scope, scopes } from '../api/tokens/token.ts'
import { configMessage, parseSigning } from '../config.ts'
import { assert } from '../lib/assert.ts'
import { nowMs } from '../lib/clock.ts'
import { duration, parseDuration } from '../setting-values.ts'
import { type Call, readCall } from './call.ts'
import { type Command, done, fail } from './command.ts'
import { tokenDeclaration } from './declarations/gateway.ts'

/** Issues a token and prints only the token, for use in scripts. */
export const token: Command = {
  run: async (process, given) => {
    const call = readCall(process, tokenDeclaration, given, ({ values, flag }) => {
      const signing = parseSigning(process.env, values)
      return [...(signing.ok ? [] : signing.error.map(configMessage)), ...problemsOf(values, flag)]
    })
    if (typeof call === 'number') return call
    const { values, flag } = call
    const signing = parseSigning(process.env, values)
    const lifetimeSeconds = parseDuration(flag('expires') ?? defaultLifetime)
    assert(signing.ok && lifetimeSeconds !== undefined, 'the call is valid')
    const subject = flag('subject') ?? defaultSubject
    const requested = (values.get('scope') ?? [])
      .map(parseScope)
      .filter((scope) => scope !== undefined)
    const { signing: source } = signing.value
    const isNew = source.kind === 'file' && !existsSync(source.path)
    const key = await openSigningKey(source)
    if (!key.ok) return fail(process, 'token', `${key.error.path}: ${key.error.reason}`)
    // A wrong path, or another folder, would otherwise be noticed only when the gateway refuses the token.
    if (isNew) process.stderr(`Created the new key ${resolve(source.path)}. ${newKeyHint}\n`)
    const text = await issueToken(key.value, {
      subject,
      scopes: requested,
      lifetimeSeconds,
      nowMs: nowMs(process.clock),
      issuer: signing.value.issuer,
      audience: signing.value.audience,
    })
    const json = { token: text, subject, scopes: requested, lifetimeSeconds }
    process.stdout(values.has('json') ? `${JSON.stringify(json)}\n` : `${text}\n`)
    return done
  },
}

const newKeyHint = 'A gateway accepts the token only if it uses this key.'

const defaultLifetime = '1d'
const defaultSubject = 'operator'

function problemsOf(values: Call['values'], flag: Call['flag']): readonly string[] {
  const isUnknown = (values.get('scope') ?? []).some((text) => parseScope(text) === undefined)
  const isDuration = parseDuration(flag('expires') ?? defaultLifetime) !== undefined
  return [
    ...(isUnknown ? [`--scope must be one of ${scopes.join(', ')}`] : []),
    ...(isDuration ? [] : [`--expires must be ${duration.expected}`]),
    ...(isSubject(flag('subject') ?? defaultSubject)
      ? []
      : [`--subject must be 1 to ${maxSubjectLength} printable characters`]),
  ]
}

/** Parses a scope; `write` is short for `chain-record:write`. */
function parseScope(text: string): Scope | undefined {
  return text === 'write' ? 'chain-record:write' : scopes.find((scope) => scope === text)
}
