import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { messageIn } from '../lib/thrown.ts'
import { isPayloadAlone } from '../protocol/block.ts'
import { type Call, readCall, urlProblems } from './call.ts'
import { type Command, done, fail, type ProcessIo } from './command.ts'
import { defaultUrl } from './declaration.ts'
import { submitDeclaration } from './declarations/gateway.ts'
import {
  createGatewayClient,
  type GatewayClient,
  members,
  notGateway,
  refusalText,
} from './gateway-client.ts'
import { inputOf } from './inspect-file.ts'
import { readFailure } from './read-failure.ts'

/** Submits a block to a running gateway, and follows its state. */
export const submit: Command = {
  run: async (process, words) => {
    const call = readCall(process, submitDeclaration, words, ({ flag }) => [
      ...urlProblems('--url', flag('url')),
      ...waitProblems(flag('wait')),
    ])
    if (typeof call === 'number') return call
    const url = call.flag('url') ?? defaultUrl
    try {
      const token = await tokenIn(call.flag('token-file'))
      const { signal } = call
      const client = createGatewayClient(url, { token, signal })
      try {
        const interrupted = process.stopped.then(() => Promise.reject(new Error('interrupted')))
        const contents = await Promise.race([contentsOf(process, call.word(0)), interrupted])
        return await Promise.race([
          submitAndFollow(process, { call, client, contents }),
          interrupted,
        ])
      } finally {
        await client.close()
      }
    } catch (failure) {
      // The file cannot be read, or the gateway is unreachable or refuses. Only the message is shown, not the stack.
      return fail(process, 'submit', messageIn(failure))
    }
  },
}

/** The block states that satisfy each value of `--wait`. */
const statesByWait: ReadonlyMap<string, readonly string[]> = new Map([
  ['accepted', ['ACCEPTED', 'CONFIRMED', 'FINALIZED']],
  ['committed', ['FINALIZED']],
])

function waitProblems(wait: string | undefined): readonly string[] {
  if (wait === undefined || statesByWait.has(wait)) return []
  return [`--wait must be ${[...statesByWait.keys()].join(' or ')}, not ${wait}`]
}

async function tokenIn(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  // A path that does not exist may be the token itself.
  const shown = existsSync(path) ? path : 'a file'
  return (await readFile(path, 'utf8').catch(readFailure('--token-file', shown))).trim()
}

function contentsOf(process: ProcessIo, path: string): Promise<Uint8Array> {
  if (path === '-') return buffer(process.stdin)
  return readFile(path).catch(readFailure('FILE', path))
}

interface Submitting {
  readonly call: Call
  readonly client: GatewayClient
  readonly contents: Uint8Array
}

async function submitAndFollow(
  process: ProcessIo,
  { call, client, contents }: Submitting,
): Promise<number> {
  const blockId = await submitContents(client, contents)
  call.print(`${blockId}\n`, { blockId })
  const states = statesByWait.get(call.flag('wait') ?? '')
  if (states === undefined) return done
  for await (const event of client.follow(subscription, { id: blockId })) {
    const { data, errors } = members(event)
    if (Array.isArray(errors)) throw new Error(refusalText(members(errors[0])))
    const { state, transaction } = members(members(data).blockState)
    const found = transaction === null ? undefined : members(transaction)
    call.print(stateLine(String(state), found), { blockId, state, transaction })
    const why = found?.failure ?? undefined
    if (state === 'DROPPED' || (why !== undefined && states.includes(String(state)))) {
      const reason = why === undefined ? 'the block was dropped' : failureText(members(why))
      return fail(process, 'submit', reason)
    }
    if (states.includes(String(state))) return done
  }
  throw new Error('the gateway ended the subscription')
}

/** Submits the contents of a file; resolves to the id of the block. */
async function submitContents(client: GatewayClient, contents: Uint8Array): Promise<string> {
  const given = inputOf(contents)
  if (!given.ok) throw new Error(`the input is ${given.error}`)
  const { json, bytes } = given.value
  const input = bytes === undefined ? { json } : { bytes }
  const { blockId } = isPayloadAlone(json)
    ? await client.post('/api/core/v3/blocks', json)
    : members((await client.query(mutation, { input })).submitBlock)
  if (typeof blockId !== 'string') throw new Error(notGateway)
  return blockId
}

type Members = Readonly<Record<string, unknown>>

function stateLine(state: string, transaction: Members | undefined): string {
  if (transaction === undefined) return `${state.toLowerCase()}\n`
  const { transactionId, state: transactionState } = transaction
  const lowerCase = String(transactionState).toLowerCase()
  return `${state.toLowerCase()}, transaction ${transactionId} ${lowerCase}\n`
}

function failureText({ code, name, sentence }: Members): string {
  return `the transaction failed: ${sentence} (${code} ${name})`
}

const mutation = 'mutation ($input: SubmitBlockInput!) { submitBlock(input: $input) { blockId } }'

const subscription = `subscription ($id: BlockId!) {
  blockState(id: $id) {
    state
    transaction { transactionId state failure { code name sentence } }
  }
}`
