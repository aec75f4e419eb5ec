import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  type TextMapPropagator,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/** A small OpenTelemetry SDK that keeps spans in memory. In production, the operator provides an SDK. */

/** An ended span. */
export interface EndedSpan extends SpanContext {
  readonly name: string
  readonly kind: SpanKind
  readonly parentId: string | undefined
  readonly attributes: Attributes
  readonly status: SpanStatusCode
  readonly exceptions: readonly unknown[]
}

/** Records the spans of the process while it is registered. */
export interface MemoryTracer {
  /** The ended spans, in the order of their ends. */
  readonly spans: readonly EndedSpan[]
  unregister(): void
}

/** Registers the tracer for the whole process, because its tests share the API. */
export function registerTracer(): MemoryTracer {
  const spans: EndedSpan[] = []
  context.setGlobalContextManager(asyncContexts())
  propagation.setGlobalPropagator(traceparent)
  const tracer: Tracer = {
    startSpan: (name, options = {}, within = context.active()) =>
      startSpan(spans, { name, ...options }, trace.getSpanContext(within)),
    startActiveSpan: () => {
      throw new Error('the program does not use startActiveSpan')
    },
  }
  trace.setGlobalTracerProvider({ getTracer: () => tracer })
  return {
    spans,
    unregister: () => {
      trace.disable()
      propagation.disable()
      context.disable()
    },
  }
}

interface Begun {
  readonly name: string
  readonly kind?: SpanKind
  readonly attributes?: Attributes
}

function startSpan(ended: EndedSpan[], begun: Begun, parent: SpanContext | undefined): Span {
  const ids = {
    traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    traceFlags: TraceFlags.SAMPLED,
  }
  let { name } = begun
  let status = SpanStatusCode.UNSET
  let isOver = false
  const attributes: Attributes = { ...begun.attributes }
  const exceptions: unknown[] = []
  const span: Span = {
    spanContext: () => ids,
    setAttribute: (key, value) => {
      attributes[key] = value
      return span
    },
    setAttributes: (more) => {
      Object.assign(attributes, more)
      return span
    },
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
    setStatus: ({ code }: SpanStatus) => {
      status = code
      return span
    },
    updateName: (next) => {
      name = next
      return span
    },
    end: () => {
      if (isOver) throw new Error(`the span ${name} has already ended`)
      isOver = true
      const { kind = SpanKind.INTERNAL } = begun
      ended.push({ ...ids, name, kind, parentId: parent?.spanId, attributes, status, exceptions })
    },
    isRecording: () => !isOver,
    recordException: (failure) => void exceptions.push(failure),
  }
  return span
}

function asyncContexts(): ContextManager {
  const stored = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => stored.getStore() ?? ROOT_CONTEXT,
    with: (within, act, self, ...args) => stored.run(within, () => act.call(self, ...args)),
    bind: (_within, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

/** The part of W3C Trace Context that the tests need. */
const traceparent: TextMapPropagator = {
  fields: () => ['traceparent'],
  inject: (within, carrier, setter) => {
    const ids = trace.getSpanContext(within)
    if (ids === undefined) return
    setter.set(carrier, 'traceparent', `00-${ids.traceId}-${ids.spanId}-01`)
  },
  extract: (within, carrier, getter) => {
    const given = getter.get(carrier, 'traceparent')
    const text = Array.isArray(given) ? given[0] : given
    const [, traceId, spanId] =
      /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text ?? '') ?? []
    if (traceId === undefined || spanId === undefined) return within
    const ids = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
    return trace.setSpanContext(within, ids)
  },
}
