import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Lints the schema. This file lists every exception with its reason. */

const folder = fileURLToPath(new URL('.', import.meta.url))
const eslint = fileURLToPath(new URL('node_modules/eslint/bin/eslint.js', import.meta.url))
const schemaFile = new URL('../../schema.graphql', import.meta.url)

interface Exception {
  /** Name of the rule without its prefix. */
  readonly rule: string
  /** Pattern of the messages that are allowed. */
  readonly about: RegExp
  readonly reason: string
}

const exceptions: readonly Exception[] = [
  {
    rule: 'no-typename-prefix',
    about: /^Field "(\w+)Id" starts/,
    reason: 'An object has its protocol id, with its usual name, in addition to the global `id`.',
  },
  {
    rule: 'no-typename-prefix',
    about: /^Field "(validatorStake|signature)" starts/,
    reason:
      'The protocol uses these names: the stake of a validator, as opposed to that of its delegators.',
  },
  {
    rule: 'relay-edge-types',
    about: /^Edge type's field `node` must implement `Node`/,
    reason:
      'A state of a chain and a holder of a token relate two nodes, and have no id of their own.',
  },
  {
    rule: 'require-nullable-result-in-root',
    about: /result (type "(Health|Network|Status)"|String) in type "Query"/,
    reason: 'These fields have no arguments that could be wrong.',
  },
  {
    rule: 'require-nullable-result-in-root',
    about: /result type "SearchResult" in type "Query"/,
    reason: 'The result states why nothing was found.',
  },
]

interface Message {
  readonly line: number
  readonly ruleId: string | null
  readonly message: string
}

/** Lints the schema. Returns a line for each finding and for each exception that is no longer needed. */
export function lintSchema(): readonly string[] {
  const words = ['--stdin', '--stdin-filename', 'schema.graphql', '--format', 'json']
  const { stdout, stderr } = spawnSync(process.execPath, [eslint, ...words], {
    cwd: folder,
    input: readFileSync(schemaFile),
    maxBuffer: 2 ** 26,
    encoding: 'utf8',
  })
  if (stdout === '') return [stderr]
  const [{ messages }]: [{ messages: readonly Message[] }] = JSON.parse(stdout)
  const needed = new Set<Exception>()
  const wrong = messages.filter((one) => {
    const found = exceptions.find(
      ({ rule, about }) => one.ruleId === `@graphql-eslint/${rule}` && about.test(one.message),
    )
    if (found !== undefined) needed.add(found)
    return found === undefined
  })
  return [
    ...wrong.map(({ line, ruleId, message }) => `schema.graphql:${line} ${ruleId}: ${message}`),
    ...exceptions
      .filter((one) => !needed.has(one))
      .map(({ rule, about }) => `the exception ${rule} ${about} is no longer needed`),
  ]
}
