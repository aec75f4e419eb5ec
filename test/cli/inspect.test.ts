import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inspect } from '../../src/cli/inspect.ts'
import { present } from '../../src/lib/assert.ts'
import { hexToBytes } from '../../src/lib/hex.ts'
import { runAsProcess, runCommand } from '../support/run-command.ts'
import type { InspectedVector } from '../support/vector-lines.ts'
import { checkAnswer, linesOf } from '../support/vector-lines.ts'
import { parameterSets } from '../support/vector-networks.ts'
import { loadVectors } from '../support/vectors.ts'

describe('inspect as a process', () => {
  test('answers every line in order, even invalid ones, and exits with 0', async () => {
    const vectors = ['transactions', 'bech32', 'mutations'].flatMap((file) =>
      loadVectors<InspectedVector>(file).slice(0, 20),
    )
    const requests = vectors.flatMap((vector) => linesOf(vector).map((line) => ({ vector, line })))
    const good = requests.map(({ line }) => JSON.stringify(line.input))
    const bad = ['', 'no JSON', '[]', 'null', '{"ref":7}', '{"ref":{"a":1},"kind":"block"}']
    const { stdout, stderr, code } = await runAsProcess('inspect', [...bad, ...good].join('\n'))
    const answers: unknown[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const codes = answers.slice(0, bad.length).map((answer) => {
      const { ref, ok, error } = Object(answer)
      return [ref, ok, error.code]
    })
    expect(codes).toEqual([
      [null, false, 'LINE_NOT_JSON'],
      [null, false, 'LINE_NOT_JSON'],
      [null, false, 'LINE_NOT_JSON'],
      [null, false, 'LINE_NOT_JSON'],
      [7, false, 'KIND_UNKNOWN'],
      [{ a: 1 }, false, 'INPUT_MISSING'],
    ])
    const complaints = requests.flatMap(({ vector, line }, i) =>
      checkAnswer(vector, line, answers[bad.length + i]),
    )
    expect(complaints).toEqual([])
    expect(answers.length).toBe(bad.length + good.length)
    expect([stderr, code]).toEqual(['', 0])
  })
})

describe('inspect reports', () => {
  test.each([
    ['an unknown flag', ['--verbose', 'a'], '--verbose is unknown'],
    ['a second file', ['a', 'b'], 'only one FILE is allowed'],
  ])('%s', async (_name, words, message) => {
    const { stderr, code } = await runCommand(inspect, words)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  test('a missing file', async () => {
    const { stderr, code } = await runCommand(inspect, ['nowhere.json'])
    expect(stderr).toContain('nowhere.json cannot be read')
    expect(code).toBe(1)
  })
})

describe('inspect of a file', () => {
  const vector = present(
    loadVectors<InspectedVector>('transactions').find(
      ({ name }) => name === 'block/transaction/all-output-kinds',
    ),
    'the vector',
  )
  const bytes = hexToBytes(present(vector.bytes, 'bytes'))

  test.each([
    ['JSON', JSON.stringify(vector.json)],
    ['hexadecimal text', `${vector.bytes}\n`],
    ['bytes', bytes],
    ['a line of the input', JSON.stringify({ kind: 'block', params: null, json: vector.json })],
  ])('describes a block as %s', async (_form, contents) => {
    const { stdout, code } = await describeFile(contents)
    const parts = [
      'block: Block, 2039 bytes',
      '    payload: SignedTransactionPayload, ',
      '          tokenScheme: SimpleTokenScheme, 97 bytes',
      `  blockId: ${Object(vector.ids).blockId}`,
      `workScore: ${vector.workScore}`,
      'signatureValid: true',
      'problems: none',
    ]
    expect(parts.filter((part) => !stdout.includes(part))).toEqual([])
    expect(code).toBe(0)
  })

  test('uses the protocol parameters in the response of a node', async () => {
    const parameters = parameterSets.get('standard')
    const older = { startEpoch: 0, parameters: { ...Object(parameters), networkName: 'other' } }
    const info = { name: 'node', protocolParameters: [older, { startEpoch: 1, parameters }] }
    const { stdout } = await describeFile(bytes, info)
    expect(stdout).toContain(`  blockId: ${Object(vector.ids).blockId}`)
    expect(stdout).toContain('problems: none')
  })

  test('lists all problems of a block', async () => {
    const broken = Uint8Array.from(bytes)
    broken[1] = 255 - (broken[1] ?? 0)
    broken[0] = 4
    const { stdout, code } = await describeFile(broken)
    expect(stdout).toContain('problems: 2')
    expect(stdout).toContain('HEADER_VERSION: header.protocolVersion')
    expect(stdout).toContain(
      'HEADER_NETWORK_ID: header.networkId is the id of another network (byte 1)',
    )
    expect(code).toBe(0)
  })

  test('reports why the file holds no valid block', async () => {
    const { stdout, code } = await describeFile(bytes.subarray(0, 100))
    expect(stdout).toMatch(/^not a valid block\n {2}BIN_EOF: body/)
    expect(code).toBe(0)
    const unclosed = await describeFile('{"header":')
    expect(unclosed.stdout).toMatch(/^not a valid block\n {2}not JSON: Unexpected end/)
  })
})

async function describeFile(
  contents: string | Uint8Array,
  parametersFile: unknown = parameterSets.get('standard'),
) {
  const folder = await mkdtemp(join(tmpdir(), 'inspect-'))
  const [file, parameters] = [join(folder, 'block'), join(folder, 'parameters.json')]
  await writeFile(file, contents)
  await writeFile(parameters, JSON.stringify(parametersFile))
  return runCommand(inspect, [file, '--parameters-file', parameters])
}
