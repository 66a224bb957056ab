// The program that is launched: nothing but its own start and end.
int main(void) { return 0; }
