import { setImmediate } from 'node:timers/promises'
import { buildSchema, execute, type GraphQLObjectType, parse } from 'graphql'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBudget } from '../../../../src/api/graphql/execution/budget.ts'
import { meterFields } from '../../../../src/api/graphql/execution/meter.ts'
import { fullShare } from '../../../support/full-share.ts'

/** The executor completes the items of a list, and resolves the fields of a query, in turns of the client. */

// What else runs on the machine would count as time of a turn.
let clock = 0
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => clock))
afterEach(() => void vi.restoreAllMocks())

/** Executes a query over ten items, each of which takes `ms`, and returns the turns in which they were completed. */
async function turnsOfItems({ ms, endAt }: { readonly ms: number; readonly endAt?: number }) {
  const schema = buildSchema('type Query { items: [Item!]! } type Item { number: Int }')
  const budget = createBudget()
  const turns: number[] = []
  let turn = 0
  const fields = (schema.getType('Item') as GraphQLObjectType).getFields()
  const { number } = fields
  if (number !== undefined) {
    number.resolve = (item: number) => {
      clock += ms
      turns.push(turn)
      if (item === endAt) budget.leave()
      return item
    }
  }
  meterFields(schema)
  const contextValue = { budget, share: fullShare() }
  const rootValue = { items: Array.from({ length: 10 }, (_, i) => i) }
  const document = parse('{ items { number } }')
  const executed = execute({ schema, document, rootValue, contextValue })
  const answer = await withTurns(executed, () => turn++)
  return { turns, answer }
}

/** Calls `onTurn` in each iteration of the event loop until a value is there. */
async function withTurns<T>(value: T | Promise<T>, onTurn: () => void): Promise<T> {
  let isOver = false
  const there = Promise.resolve(value).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await setImmediate()
    onTurn()
  }
  return await there
}

test('the fields of a query that take long are resolved in many turns, and those that take little in one', async () => {
  const turnsOfFields = async (ms: number) => {
    const schema = buildSchema('type Query { number: Int }')
    const turns: number[] = []
    let turn = 0
    const number = () => {
      clock += ms
      turns.push(turn)
      return 7
    }
    meterFields(schema)
    const contextValue = { budget: createBudget(), share: fullShare() }
    const document = parse(`{ ${Array.from('abcdefgh', (name) => `${name}: number`).join(' ')} }`)
    const executed = execute({ schema, document, rootValue: { number }, contextValue })
    const { data } = await withTurns(executed, () => turn++)
    expect(Object.values(data ?? {})).toEqual(Array(8).fill(7))
    return new Set(turns).size
  }
  expect(await turnsOfFields(0.1)).toBe(1)
  expect(await turnsOfFields(3)).toBeGreaterThan(3)
})

test('items that take long are completed in many turns, and those that take little in one', async () => {
  const short = await turnsOfItems({ ms: 0.1 })
  expect(new Set(short.turns).size).toBe(1)
  const long = await turnsOfItems({ ms: 3 })
  expect(new Set(long.turns).size).toBeGreaterThan(3)
  expect(long.answer).toEqual(short.answer)
})

test('no more items are completed after the end of the operation', async () => {
  const { turns, answer } = await turnsOfItems({ ms: 3, endAt: 4 })
  expect(turns.length).toBeLessThan(8)
  expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'CLIENT_LEFT' })
})
