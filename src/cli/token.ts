import { openSigningKey } from '../api/signing-key.ts'
import { isSubject, issueToken, maxSubjectLength, type Scope, scopes } from '../api/token.ts'
import { configMessage, flagNames, parseSigning } from '../config.ts'
import { nowMs } from '../lib/clock.ts'
import { flagMessage, parseFlags } from '../lib/flags.ts'
import { parseDuration } from '../setting-values.ts'
import { keySettings } from '../settings.ts'
import { asksForHelp, type Command, done, failed, refuse, settingTable, table } from './command.ts'

/** Makes a token and prints it alone, so that a script can take it. */
export const token: Command = {
  help: `Makes a JSON Web Token and prints it alone on standard output.

Usage: ledger-gateway token --scope SCOPE [--scope SCOPE …] [FLAGS]

${table([
  ['--scope SCOPE', 'what it allows: chain-record:write (short: write), block:submit, operator'],
  ['--subject NAME', 'whose it is; kept with every chain record it sets (operator)'],
  ['--expires TIME', 'how long it is valid: a number and s, m, h or d (1d)'],
])}

It is signed with the key of the gateway, so name the same database, key file or secret:

${settingTable(keySettings)}

For example:

  curl -X POST http://127.0.0.1:4000/v1/chains/CHAIN/chainrecord \\
    -H "Authorization: Bearer $(ledger-gateway token --scope write)" \\
    -H 'Content-Type: application/json' -d '{"accessNodes":[],"isActive":true}'
`,
  run: async (process, words) => {
    if (asksForHelp(words)) {
      process.stdout(token.help)
      return done
    }
    const once = [...flagNames(keySettings), 'subject', 'expires']
    const { values, problems } = parseFlags(words, { once, many: ['scope'] })
    const signing = parseSigning(process.env, values)
    const asked = (values.get('scope') ?? []).map(parseScope)
    const [expires = '1d'] = values.get('expires') ?? []
    const lifetimeSeconds = parseDuration(expires)
    const [subject = 'operator'] = values.get('subject') ?? []
    const wrong = [
      ...problems.map(flagMessage),
      ...(signing.ok ? [] : signing.error.map(configMessage)),
      ...(asked.length === 0 ? ['--scope is needed'] : []),
      ...(asked.includes(undefined) ? [`--scope must be one of ${scopes.join(', ')}`] : []),
      ...(lifetimeSeconds === undefined ? ['--expires must be like 30m, 12h or 1d'] : []),
      ...(isSubject(subject)
        ? []
        : [`--subject must be 1 to ${maxSubjectLength} printable characters`]),
    ]
    if (wrong.length > 0 || !signing.ok || lifetimeSeconds === undefined) {
      return refuse(process, 'token', wrong)
    }
    const key = await openSigningKey(signing.value.signing)
    if (!key.ok) {
      process.stderr(`ledger-gateway token: ${key.error.path}: ${key.error.reason}\n`)
      return failed
    }
    const text = await issueToken(key.value, {
      subject,
      scopes: asked.filter((scope) => scope !== undefined),
      lifetimeSeconds,
      nowMs: nowMs(process.clock),
      issuer: signing.value.issuer,
      audience: signing.value.audience,
    })
    process.stdout(`${text}\n`)
    return done
  },
}

/** `write` is short for the scope that the original calls so. */
function parseScope(text: string): Scope | undefined {
  return text === 'write' ? 'chain-record:write' : scopes.find((scope) => scope === text)
}
