import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verify } from '../../src/cli/verify.ts'
import { present } from '../../src/lib/assert.ts'
import { runAsProcess, runCommand } from '../support/run-command.ts'
import {
  rightAnswers,
  type SemanticKind,
  type SemanticVector,
  semanticCounts,
  semanticLine,
} from '../support/semantic-questions.ts'
import { loadVectors } from '../support/vectors.ts'

describe('verify as a process', () => {
  test('answers every line in order, even invalid ones, and exits with 0', async () => {
    const requests = Object.keys(semanticCounts).flatMap((kind) =>
      loadVectors<SemanticVector>(`semantic-${kind}`)
        .slice(0, 5)
        .map((vector) => ({ kind: kind as SemanticKind, vector })),
    )
    const good = requests.map(({ kind, vector }) => semanticLine(kind, vector))
    const { stdout, stderr, code } = await runAsProcess(
      'verify',
      ['', 'no JSON', ...good].join('\n'),
    )
    const answers: unknown[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const refused = { ref: null, error: expect.objectContaining({ code: 'LINE_NOT_JSON' }) }
    expect(answers.slice(0, 2)).toEqual([refused, refused])
    for (const [index, { kind, vector }] of requests.entries()) {
      const right = rightAnswers(kind, vector).map((one) => ({ ref: vector.name, ...Object(one) }))
      expect(right).toContainEqual(answers[index + 2])
    }
    expect(answers).toHaveLength(good.length + 2)
    expect([stderr, code]).toEqual(['', 0])
  })
})

describe('verify reports', () => {
  test.each([
    ['an unknown flag', ['--verbose', 'a'], '--verbose is unknown'],
    ['a second file', ['a', 'b'], 'only one FILE is allowed'],
  ])('%s', async (_name, words, message) => {
    const { stderr, code } = await runCommand(verify, words)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  })

  test('a missing file', async () => {
    const { stderr, code } = await runCommand(verify, ['nowhere.json'])
    expect(stderr).toContain('nowhere.json')
    expect(code).toBe(1)
  })
})

describe('verify of a file prints for a transaction', () => {
  test('that is valid: all rules and the mana', async () => {
    const { stdout, code } = await explain(questionOf('mana/everything-allotted'))
    expect(stdout).not.toContain('BROKEN')
    expect(stdout.match(/^ {2}holds /gm)).toHaveLength(12)
    expect(stdout).toContain('The transaction is valid.')
    expect(stdout).toMatch(/^ {2}burned {3}0$/m)
    expect(code).toBe(0)
  })

  test('that is invalid: the rules up to the broken one and the reason', async () => {
    const { stdout, code } = await explain(questionOf('amount/one-too-many-on-output-side'))
    expect(stdout.match(/^ {2}holds {3}/gm)).toHaveLength(5)
    expect(stdout).toMatch(/^ {2}BROKEN {2}inputs and outputs hold the same base tokens$/m)
    expect(stdout).toContain('14 InputOutputBaseTokenMismatch')
    expect(code).toBe(0)
  })

  test('with an unknown input: no other rule', async () => {
    const { stdout } = await explain({
      ...questionOf('amount/one-too-many-on-output-side'),
      inputs: [],
    })
    expect(stdout).toContain('2 Orphaned')
    expect(stdout).not.toContain('holds ')
  })

  test('that is malformed: the path', async () => {
    const { stderr, code } = await explain({
      ...questionOf('amount/one-too-many-on-output-side'),
      unlocks: [],
    })
    expect(stderr).toContain('unlocks must be 1 to 128')
    expect(code).toBe(1)
  })
})

function questionOf(name: string): Readonly<Record<string, unknown>> {
  const vectors = loadVectors<SemanticVector>('semantic-tx')
  const vector = present(
    vectors.find((one) => one.name === name),
    name,
  )
  return JSON.parse(semanticLine('tx', vector))
}

async function explain(question: Readonly<Record<string, unknown>>) {
  const file = join(await mkdtemp(join(tmpdir(), 'verify-')), 'case.json')
  await writeFile(file, JSON.stringify(question))
  return runCommand(verify, [file])
}
