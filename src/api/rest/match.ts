import { err, ok, type Result } from '../../lib/result.ts'
import type { MatchError } from '../errors/api-errors.ts'

/** Finds the route of a path, and parses the query string, without I/O. */

export interface Pattern {
  readonly method: string
  readonly path: string
}

/** A route with the values of its path parameters. */
export interface Match<P extends Pattern> {
  readonly route: P
  readonly params: ReadonlyMap<string, string>
}

/** A tree of routes by path segment. The cost of a lookup does not grow with the number of routes. */
export interface RouteTable<P extends Pattern> {
  readonly root: Branch<P>
}

interface Branch<P extends Pattern> {
  readonly literals: Map<string, Branch<P>>
  parameter: Branch<P> | undefined
  /** The routes whose paths end here, with the names of their path parameters. */
  readonly ends: { readonly route: P; readonly names: readonly string[] }[]
}

export function tableOf<P extends Pattern>(routes: readonly P[]): RouteTable<P> {
  const root = newBranch<P>()
  for (const route of routes) {
    const names: string[] = []
    let branch = root
    for (const segment of route.path.split('/').slice(1)) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1))
        branch.parameter ??= newBranch()
        branch = branch.parameter
      } else {
        const next = branch.literals.get(segment) ?? newBranch()
        branch.literals.set(segment, next)
        branch = next
      }
    }
    branch.ends.push({ route, names })
  }
  return { root }
}

/**
 * Finds the route for a method and a path without its query string. A literal segment takes precedence over a parameter, one
 * trailing slash is ignored, and HEAD uses the GET route.
 */
export function findRoute<P extends Pattern>(
  { root }: RouteTable<P>,
  method: string,
  path: string,
): Result<Match<P>, MatchError> {
  const segments = decodeSegments(path)
  if (segments === undefined) return err({ code: 'PATH_MALFORMED', path })
  const matches: Match<P>[] = []
  addMatches(root, segments, matches)
  const fewest = Math.min(...matches.map((match) => match.params.size))
  const closest = matches.filter((match) => match.params.size === fewest)
  if (closest.length === 0) return err({ code: 'PATH_UNKNOWN', path })
  const wanted = method === 'HEAD' ? 'GET' : method
  const found = closest.find((match) => match.route.method === wanted)
  if (found !== undefined) return ok(found)
  return err({ code: 'METHOD_NOT_ALLOWED', method, allowed: allowedMethods(closest) })
}

/** Parses a query string (without the question mark). It may contain only the names in `known`, each at most once. */
export function readQuery(
  query: string,
  known: readonly string[],
): Result<ReadonlyMap<string, string>, MatchError> {
  const values = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decodeQueryPart(at === -1 ? part : part.slice(0, at))
    const value = decodeQueryPart(at === -1 ? '' : part.slice(at + 1))
    if (name === undefined || value === undefined) return err({ code: 'QUERY_MALFORMED', part })
    if (!known.includes(name)) {
      return err({ code: 'QUERY_PARAMETER_UNKNOWN', name, known: known.join(', ') })
    }
    if (values.has(name)) return err({ code: 'QUERY_PARAMETER_REPEATED', name })
    values.set(name, value)
  }
  return ok(values)
}

function newBranch<P extends Pattern>(): Branch<P> {
  return { literals: new Map(), parameter: undefined, ends: [] }
}

/** Adds all matches of the segments from `at` on to `found`; `values` are the parameters of the segments before. */
function addMatches<P extends Pattern>(
  { literals, parameter, ends }: Branch<P>,
  segments: readonly string[],
  found: Match<P>[],
  at = 0,
  values: readonly string[] = [],
): void {
  const segment = segments[at]
  if (segment === undefined) {
    for (const { route, names } of ends) {
      found.push({ route, params: new Map(names.map((name, i) => [name, values[i] ?? ''])) })
    }
    return
  }
  const literal = literals.get(segment)
  if (literal !== undefined) addMatches(literal, segments, found, at + 1, values)
  if (parameter === undefined || segment === '') return
  addMatches(parameter, segments, found, at + 1, [...values, segment])
}

function decodeSegments(path: string): readonly string[] | undefined {
  const segments: string[] = []
  for (const raw of path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .slice(1)) {
    const segment = decodePercent(raw)
    if (segment === undefined) return undefined
    segments.push(segment)
  }
  return segments
}

function decodeQueryPart(text: string): string | undefined {
  return decodePercent(text.replaceAll('+', ' '))
}

function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign without two digits, or bytes that are not UTF-8: nothing else throws here.
    return undefined
  }
}

function allowedMethods(matches: readonly Match<Pattern>[]): string {
  const methods = matches.map((match) => match.route.method)
  const withHead = methods.includes('GET') ? ['GET', 'HEAD', ...methods] : methods
  return [...new Set([...withHead, 'OPTIONS'])].join(', ')
}
