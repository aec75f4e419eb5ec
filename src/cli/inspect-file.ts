import { bytesToHex, isHex } from '../lib/hex.ts'
import { err, ok, type Result } from '../lib/result.ts'
import { messageIn } from '../lib/thrown.ts'
import { Block } from '../protocol/block.ts'
import { inspect } from '../tools/inspect.ts'
import { type InspectDeps, type InspectedBlock, inspectBlock } from '../tools/inspect-block.ts'
import { type InspectError, printError } from '../tools/inspect-errors.ts'
import { type Input, readForm } from '../tools/inspect-input.ts'
import { printBlock } from '../tools/print-inspection.ts'
import { indented, jsonTree, valueTree } from './value-tree.ts'

/** Describes the contents of a file in readable form. */

/**
 * Describes the value in a file. The file contains a block as JSON, as hexadecimal text or as bytes, or a value of any kind as
 * an input line of the command.
 */
export async function describeFile(deps: InspectDeps, contents: Uint8Array): Promise<string> {
  const input = inputOf(contents)
  return `${(await linesOf(deps, input)).join('\n')}\n`
}

async function linesOf(
  deps: InspectDeps,
  input: Result<Input, string>,
): Promise<readonly string[]> {
  if (!input.ok) return ['not a valid block', `  ${input.error}`]
  return input.value.kind === 'block' ? blockLines(deps, input.value) : factLines(deps, input.value)
}

/**
 * Parses the contents of a file: a block as JSON, as hexadecimal text or as bytes, or an input line of `inspect`. Returns an error
 * message for a text that begins like JSON but is not.
 */
export function inputOf(contents: Uint8Array): Result<Input, string> {
  const text = new TextDecoder().decode(contents).trim()
  if (isHex(text)) return ok({ kind: 'block', bytes: text })
  // The bytes of a block never start with the character `{`: that would be protocol version 123.
  if (!text.startsWith('{')) return ok({ kind: 'block', bytes: bytesToHex(contents) })
  try {
    const json: unknown = JSON.parse(text)
    const request = Object(json)
    return ok('kind' in request ? request : { kind: 'block', json })
  } catch (failure) {
    return err(`not JSON: ${messageIn(failure)}`)
  }
}

async function factLines(deps: InspectDeps, input: Input): Promise<readonly string[]> {
  const facts = await inspect(deps, input)
  if (!facts.ok) return errorLines(String(input.kind), facts.error)
  return [String(input.kind), ...indented(jsonTree(facts.value))]
}

async function blockLines(deps: InspectDeps, input: Input): Promise<readonly string[]> {
  const given = readForm(input)
  if (!given.ok) return errorLines('block', given.error)
  const inspected: Result<InspectedBlock, InspectError> = await inspectBlock(deps, given.value)
  if (!inspected.ok) return errorLines('block', inspected.error)
  const { json: _, bytes: __, problems: ___, ...facts } = printBlock(inspected.value)
  const { block, problems } = inspected.value
  const found = problems.map((problem) => {
    const { code, message } = printError(problem, 'the block')
    const source = problem.of === 'node' ? ' (a rule of nodes; the official SDK accepts it)' : ''
    return `${code}: ${message}${source}`
  })
  return [
    ...valueTree('block', Block, block),
    ...jsonTree(facts),
    `problems: ${found.length === 0 ? 'none' : found.length}`,
    ...indented(found),
  ]
}

function errorLines(kind: string, error: InspectError): readonly string[] {
  const { code, message } = printError(error, `the ${kind}`)
  return [`not a valid ${kind}`, `  ${code}: ${message}`]
}
