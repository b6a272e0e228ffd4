import { useLayoutEffect, useRef, useState } from 'react';
import type { RefObject } from 'react';

/** The width of the room a chart has; charts measure it instead of stretching their letters. */
export function useWidth<Element extends HTMLElement>(fallback: number): [RefObject<Element | null>, number] {
  const room = useRef<Element>(null);
  const [width, setWidth] = useState(fallback);
  useLayoutEffect(() => {
    const element = room.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(Math.max(120, Math.floor(element.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [room, width];
}
