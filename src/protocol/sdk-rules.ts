import type { Problem } from './problems.ts'
import { nodeOf } from './schema/offset.ts'
import type { Schema } from './schema/schema.ts'

/** The rules of single parts that only the official SDK has (codec reference 19, rows 1 to 4). */

/** Returns the broken SDK rules of a value, in the order of its parts. Nodes accept the value nevertheless. */
export function sdkProblems<T>(schema: Schema<T>, value: T): readonly Problem[] {
  const problems: Problem[] = []
  walk(schema, value, [])
  return problems

  function walk(part: Schema<unknown>, held: unknown, path: readonly (string | number)[]): void {
    const code = part.brokenForSdk?.(held)
    if (code !== undefined) problems.push({ code, path: path.join('.'), of: 'sdk' })
    const node = nodeOf(part)
    if (node.kind === 'list') {
      Array.from(Object(held)).forEach((element, i) => {
        walk(node.of, element, [...path, i])
      })
    } else if (node.kind === 'struct') {
      for (const [key, member] of Object.entries(node.fields)) {
        walk(member, Reflect.get(Object(held), key), [...path, key])
      }
    } else if (node.kind === 'union') {
      const chosen = node.variants.find(
        ({ code: type }) => type === Reflect.get(Object(held), 'type'),
      )
      if (chosen !== undefined) walk(chosen, held, path)
    } else if (node.kind === 'optional' && held !== undefined) {
      walk(node.of, held, path)
    }
  }
}
